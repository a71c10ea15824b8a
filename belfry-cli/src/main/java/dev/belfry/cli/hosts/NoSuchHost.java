package dev.belfry.cli.hosts;

import java.io.IOException;

/** Thrown if no host matches, or several do; the message lists the candidates. */
public final class NoSuchHost extends IOException {
  private static final long serialVersionUID = 1;

  NoSuchHost(String message) {
    super(message);
  }
}
