package dev.belfry.shm;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.ECONNREFUSED;
import static dev.belfry.linux.Errno.ECONNRESET;
import static dev.belfry.linux.Errno.ENOBUFS;
import static dev.belfry.linux.Errno.ENOTCONN;
import static dev.belfry.linux.Errno.EPIPE;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;

/**
 * One end of a pair of connected sockets with which two processes wake each other, and learn of
 * each other's death. A ring means only that something has changed: whoever hears it looks at
 * everything it waits for. Any number of rings that nobody has heard yet count as one.
 *
 * {@snippet :
 * Doorbell.Pair bells = Doorbell.pair(sys);
 * bells.host().ring();
 * bells.guest().await();                         // SIGNAL
 * bells.host().close();
 * bells.guest().await(Duration.ofMillis(100));   // DEATH, from now on
 * }
 *
 * <p>For any number of threads: one of those that wait reads the socket, and all hear what it
 * hears.
 */
// r[impl shm.doorbell.purpose]
public final class Doorbell implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Doorbell.class.getName());

  /** What is sent; its value means nothing. */
  private static final MemorySegment RING =
      Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1);

  private final Sys sys;
  private final Fd fd;
  private final Sockets.Type type;
  private final BellReader reader;

  /** Held while ringing: a descriptor closed meanwhile might already be something else's. */
  private final BriefLock ringing = new BriefLock();

  /** Changed with the lock held. */
  private volatile boolean closed;

  private volatile boolean peerDead;

  private Doorbell(Sys sys, Fd fd, Sockets.Type type) {
    this.sys = sys;
    this.fd = fd;
    this.type = type;
    this.reader = new BellReader(sys, fd);
  }

  /** What was heard. */
  public enum Event {
    /** The peer has rung, once or more often. */
    SIGNAL,
    /** The peer's end is closed; from now on there is nothing else to hear. */
    DEATH,
    /** Nothing. */
    TIMEOUT
  }

  /** What came of a ring. */
  public enum Rung {
    /** The peer will hear it. */
    SENT,
    /** The peer has not even heard those before; it will hear this one with them. */
    ALREADY_PENDING,
    /** Nobody can hear it any more. */
    PEER_DEAD
  }

  /** The two ends; each is closed on its own. */
  public record Pair(Doorbell host, Doorbell guest) {}

  /** A new bell. Both ends are closed in programs that are started meanwhile. */
  // r[impl shm.doorbell.socketpair]
  public static Pair pair(Sys sys) throws ErrnoException {
    Sockets.Pair ends = Sockets.pair(sys, Sockets.Type.STREAM, false);
    return new Pair(
        new Doorbell(sys, ends.first(), Sockets.Type.STREAM),
        new Doorbell(sys, ends.second(), Sockets.Type.STREAM));
  }

  /**
   * Takes over an end that this process has inherited. It may be a Unix socket of any type; on one
   * for datagrams the peer's death shows only when ringing.
   *
   * @throws TicketException if it is no socket; then it is left alone
   */
  public static Doorbell adopt(Sys sys, int descriptor) throws IOException {
    Sockets.Type type = typeOf(sys, descriptor);
    FdFlags.setNonBlocking(sys, descriptor, true);
    FdFlags.setCloseOnExec(sys, descriptor, true);
    return new Doorbell(sys, Fd.own(sys, descriptor, "inherited doorbell"), type);
  }

  private static Sockets.Type typeOf(Sys sys, int descriptor) throws IOException {
    try {
      if (FileStatus.of(sys, descriptor).isSocket()) {
        int number = Sockets.option(sys, descriptor, Sockets.SOL_SOCKET, Sockets.SO_TYPE);
        for (Sockets.Type type : Sockets.Type.values()) {
          if (type.number() == number) {
            return type;
          }
        }
      }
    } catch (ErrnoException e) {
      if (!e.is(EBADF)) {
        throw e;
      }
    }
    throw new TicketException(
        TicketException.Reason.INVALID_DOORBELL,
        "descriptor %d is not an open socket, so it is not a doorbell; was it passed on to this process?"
            .formatted(descriptor));
  }

  /**
   * Rings. Never blocks, never raises a signal, allocates nothing.
   *
   * @throws ErrnoException for an error that says nothing about the peer
   * @throws IllegalStateException if this end is closed
   */
  // r[impl shm.doorbell.signal]
  public Rung ring() throws ErrnoException {
    long result;
    ringing.take();
    try {
      checkOpen();
      result = peerDead ? -EPIPE : Sockets.send(sys, fd.number(), RING);
    } finally {
      ringing.end();
    }
    return switch ((int) result) {
      case 1 -> Rung.SENT;
      case -EAGAIN, -ENOBUFS -> Rung.ALREADY_PENDING;
      case -EPIPE, -ECONNRESET, -ECONNREFUSED, -ENOTCONN -> {
        peerDead = true;
        yield Rung.PEER_DEAD;
      }
      default -> throw new ErrnoException("send", (int) -result, "doorbell");
    };
  }

  /** Rings because something was published, which stays so whatever comes of the ring. */
  void announce() {
    if (closed) {
      return;
    }
    try {
      ring();
    } catch (IllegalStateException closedMeanwhile) {
      // Then nobody waits for it either.
    } catch (ErrnoException e) {
      LOG.log(Level.WARNING, "a published message could not be announced", e);
    }
  }

  /** Waits until the peer rings or dies. Must not be called in an event loop. */
  public Event await() throws ErrnoException {
    return reader.await(Deadlines.FOREVER);
  }

  /** Waits at most that long. */
  public Event await(Duration atMost) throws ErrnoException {
    return reader.await(Deadlines.after(atMost));
  }

  /** Says what there is, without waiting. */
  public Event poll() throws ErrnoException {
    return reader.await(System.nanoTime());
  }

  /** How often something was heard here; to be read before a condition is tested. */
  long heard() {
    return reader.heard();
  }

  /** Waits, unless something was heard since that count, whoever heard it. */
  Event awaitSince(long heard, long deadlineNanos) throws ErrnoException {
    return reader.awaitSince(heard, deadlineNanos);
  }

  /** Whether a ring has shown that the peer is dead. */
  public boolean isPeerDead() {
    return peerDead;
  }

  /** Whether the kernel tells of the peer's death by itself. */
  boolean tellsDeath() {
    return type != Sockets.Type.DATAGRAM;
  }

  /** The descriptor. */
  public int descriptor() {
    return fd.number();
  }

  /**
   * Lets programs that are started from now on inherit this end, for callers who start a guest by
   * other means than {@link ShmHost#spawn}. <b>Every</b> child that any thread starts meanwhile
   * inherits it, and while one of them lives the guest's death does not show here. {@code
   * ProcessBuilder} closes it in the child all the same. Close this end once the guest runs.
   */
  // r[impl shm.doorbell.clear-cloexec]
  public void inheritable() throws ErrnoException {
    FdFlags.setCloseOnExec(sys, fd.number(), false);
  }

  /** Ends the use of this end and returns its descriptor; an event loop closes it. */
  Fd retire() {
    ringing.take();
    try {
      checkOpen();
      closed = true;
      return fd;
    } finally {
      ringing.end();
    }
  }

  /** For an event loop that reads it from now on. */
  Fd fd() {
    return fd;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this end of the doorbell is closed");
    }
  }

  /** Closes this end, which the peer sees as death; whoever waits here gets an exception. */
  @Override
  public void close() {
    ringing.take();
    try {
      if (closed) {
        return;
      }
      closed = true;
    } finally {
      ringing.end();
    }
    reader.close();
    fd.close();
  }

  @Override
  public String toString() {
    return "doorbell " + fd;
  }
}
