package dev.belfry.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Optional;

/** Finds out what keeps a server from listening, which the server reports only to its own log. */
public final class Obstacle {
  private Obstacle() {}

  /**
   * Tries to listen on an address, then frees it again. Returns the kernel's error message with the
   * address; empty if nothing is wrong, or no longer.
   */
  public static Optional<String> at(InetSocketAddress address) {
    try (ServerSocketChannel listener = ServerSocketChannel.open()) {
      listener.bind(address);
      return Optional.empty();
    } catch (IOException e) {
      String where = address.getAddress().getHostAddress();
      return Optional.of("%s at %s:%d".formatted(e.getMessage(), where, address.getPort()));
    }
  }
}
