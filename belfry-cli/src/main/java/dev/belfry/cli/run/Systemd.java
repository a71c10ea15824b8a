package dev.belfry.cli.run;

import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tells systemd, if it started this process and wants to know, when the host is ready and when it
 * ends ({@code sd_notify(3)}), so that dependent units start only then. A failure is logged once
 * and stops nothing. Blocks briefly, so use platform threads.
 */
final class Systemd {
  /** Names systemd's socket: a path, or {@code @} and the name of an abstract socket. */
  static final String VARIABLE = "NOTIFY_SOCKET";

  /** How long to wait if systemd is behind with its messages. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final Sys sys;
  private final SignalLog log;

  /** Null if systemd does not listen, or telling it has failed. */
  private @Nullable String socket;

  Systemd(Sys sys, SignalLog log, @Nullable String socket) {
    this.sys = sys;
    this.log = log;
    this.socket = socket;
  }

  /** Whether systemd listens. */
  synchronized boolean isThere() {
    return socket != null;
  }

  /** Sets what {@code systemctl status} shows until the next message. */
  void status(String text) {
    tell("STATUS=" + text);
  }

  /** Reports that the host is ready. */
  void ready(HostEntry host) {
    String calls = host.gateway() == null ? "" : ", calls " + host.gateway();
    String console = host.admin() == null ? "" : ", console " + host.admin() + "/";
    tell("READY=1\nSTATUS=" + host.name() + calls + console);
  }

  /** Reports that an orderly shutdown has begun. */
  void stopping() {
    tell("STOPPING=1\nSTATUS=ends in good order");
  }

  private synchronized void tell(String message) {
    if (socket == null) {
      return;
    }
    try {
      send(socket, message);
    } catch (ErrnoException | IllegalArgumentException e) {
      socket = null;
      String text = "cannot tell systemd how the host is, by " + VARIABLE + ": " + e.getMessage();
      log.log(new SignalRecord(Level.WARNING, "host.systemd", text, Map.of()));
    }
  }

  private void send(String name, String message) throws ErrnoException {
    try (Arena arena = Arena.ofConfined();
        Fd fd =
            Sockets.open(
                sys, StandardProtocolFamily.UNIX, Sockets.Type.DATAGRAM, /* blocking= */ false)) {
      int refused = Sockets.connect(sys, fd.number(), address(arena, name));
      if (refused < 0) {
        throw new ErrnoException("connect", -refused, name);
      }
      MemorySegment bytes =
          arena.allocateFrom(ValueLayout.JAVA_BYTE, message.getBytes(StandardCharsets.UTF_8));
      var room = new PollSet(sys, 1);
      room.set(0, fd.number(), PollSet.OUT);
      long deadline = System.nanoTime() + PATIENCE.toNanos();
      long sent;
      do {
        sent = Sockets.send(sys, fd.number(), bytes);
      } while (sent == -Errno.EAGAIN && room.await(deadline) > 0);
      if (sent < 0) {
        throw new ErrnoException("send", (int) -sent, name);
      }
    }
  }

  private static MemorySegment address(Arena arena, String name) {
    return name.startsWith("@")
        ? Sockets.encodeAbstract(arena, name.substring(1))
        : Sockets.encode(arena, UnixDomainSocketAddress.of(name));
  }
}
