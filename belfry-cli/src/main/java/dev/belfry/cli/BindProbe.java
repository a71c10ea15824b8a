package dev.belfry.cli;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * Finds out whether a server could listen at an address. It uses system calls because Java reports
 * the reason only as text, in the user's language.
 */
public final class BindProbe {
  private BindProbe() {}

  /** Returns the error that prevents listening; empty if there is none. The address stays free. */
  public static Optional<ErrnoException> refusal(Sys sys, InetSocketAddress address) {
    try (Fd socket = Sockets.open(sys, Sockets.familyOf(address), Sockets.Type.STREAM, true)) {
      // As servers do, so that connections in TIME_WAIT are not in the way.
      Sockets.setOption(sys, socket.number(), Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, 1);
      Sockets.bind(sys, socket.number(), address);
      return Optional.empty();
    } catch (ErrnoException e) {
      return Optional.of(e);
    }
  }

  /** Whether a server at one address is in the way of one at the other; port 0 is any free port. */
  public static boolean overlap(InetSocketAddress one, InetSocketAddress other) {
    boolean samePort = one.getPort() != 0 && one.getPort() == other.getPort();
    return samePort && (isEverywhere(one) || isEverywhere(other) || one.equals(other));
  }

  private static boolean isEverywhere(InetSocketAddress address) {
    return !address.isUnresolved() && address.getAddress().isAnyLocalAddress();
  }
}
