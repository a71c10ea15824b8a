package dev.belfry.cli;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * Tries whether something could listen at an address. By system calls, because Java gives the
 * reason only in words, and those are of the user's language.
 */
public final class BindProbe {
  private BindProbe() {}

  /** What the kernel has against it; empty if nothing. The address is free again afterwards. */
  public static Optional<ErrnoException> refusal(Sys sys, InetSocketAddress address) {
    try (Fd socket = Sockets.open(sys, Sockets.familyOf(address), Sockets.Type.STREAM, true)) {
      // As listeners do: connections that have ended are not in the way.
      Sockets.setOption(sys, socket.number(), Sockets.SOL_SOCKET, Sockets.SO_REUSEADDR, 1);
      Sockets.bind(sys, socket.number(), address);
      return Optional.empty();
    } catch (ErrnoException e) {
      return Optional.of(e);
    }
  }
}
