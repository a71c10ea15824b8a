package dev.belfry.http;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.util.Optional;

/** What keeps a server from listening; the server itself says it to nobody but its own log. */
public final class Obstacle {
  private Obstacle() {}

  /**
   * What the kernel has against a listener at an address, in its words and with the address; empty
   * if nothing, or nothing any more. The address is free again afterwards.
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
