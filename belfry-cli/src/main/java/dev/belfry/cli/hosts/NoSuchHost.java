package dev.belfry.cli.hosts;

import java.io.IOException;

/** There is no host of that kind, or more than one; the message lists those there are. */
public final class NoSuchHost extends IOException {
  private static final long serialVersionUID = 1;

  NoSuchHost(String message) {
    super(message);
  }
}
