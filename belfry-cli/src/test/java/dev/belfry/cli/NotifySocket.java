package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;

/** Stands in for systemd's notification socket. */
public final class NotifySocket implements AutoCloseable {
  private static final Sys SYS = Sys.forAnyThread();

  private final String name;
  private final Fd fd;

  private NotifySocket(String name, MemorySegment address) throws ErrnoException {
    this.name = name;
    this.fd =
        Sockets.open(
            SYS, StandardProtocolFamily.UNIX, Sockets.Type.DATAGRAM, /* blocking= */ false);
    assertThat(SYS.bind(fd.number(), address, (int) address.byteSize())).isZero();
  }

  public static NotifySocket at(Path path) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      return new NotifySocket(
          path.toString(), Sockets.encode(arena, UnixDomainSocketAddress.of(path)));
    }
  }

  /** Creates an abstract socket. */
  public static NotifySocket named(String name) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      return new NotifySocket("@" + name, Sockets.encodeAbstract(arena, name));
    }
  }

  /** Returns the value for NOTIFY_SOCKET. */
  public String name() {
    return name;
  }

  /** Returns the next message, after a generous wait. */
  public String next() {
    return next(HostProgram.GENEROUS);
  }

  /** Returns the next message, or an empty text if none comes in time. */
  public String next(Duration limit) {
    var set = new PollSet(SYS, 1);
    set.set(0, fd.number(), PollSet.IN);
    if (set.await(System.nanoTime() + limit.toNanos()) == 0) {
      return "";
    }
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(4096);
      long bytes = Sockets.receive(SYS, fd.number(), room);
      return new String(
          room.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.UTF_8);
    }
  }

  @Override
  public void close() {
    fd.close();
  }
}
