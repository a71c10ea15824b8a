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
 * One end of a pair of connected sockets through which two processes wake each other and detect
 * each other's death. A ring says only that something has changed: its receiver tests everything it
 * waits for. Rings that have not been heard yet coalesce into one.
 *
 * {@snippet :
 * Doorbell.Pair bells = Doorbell.pair(sys);
 * bells.host().ring();
 * bells.guest().await();                         // SIGNAL
 * bells.host().close();
 * bells.guest().await(Duration.ofMillis(100));   // DEATH, from now on
 * }
 *
 * <p>Safe for use by any number of threads: one of the waiting threads reads the socket, and all of
 * them hear what it hears.
 */
// r[impl shm.doorbell.purpose]
public final class Doorbell implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Doorbell.class.getName());

  /** The byte that is sent; its value means nothing. */
  private static final MemorySegment RING =
      Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, (byte) 1);

  private final Sys sys;
  private final Fd fd;
  private final Sockets.Type type;
  private final BellReader reader;

  /**
   * Held while ringing: a descriptor closed meanwhile could already be reused for something else.
   */
  private final BriefLock ringing = new BriefLock();

  /** Written with the lock held. */
  private volatile boolean closed;

  private volatile boolean peerDead;

  private Doorbell(Sys sys, Fd fd, Sockets.Type type) {
    this.sys = sys;
    this.fd = fd;
    this.type = type;
    this.reader = new BellReader(sys, fd);
  }

  /** What a wait has heard. */
  public enum Event {
    /** The peer has rung, once or more. */
    SIGNAL,
    /** The peer's end is closed; every later wait returns this, too. */
    DEATH,
    /** Nothing was heard in time. */
    TIMEOUT
  }

  /** The result of a ring. */
  public enum Rung {
    /** The peer will hear it. */
    SENT,
    /** The peer has not heard earlier rings yet, and will hear this one with them. */
    ALREADY_PENDING,
    /** The peer's end is closed. */
    PEER_DEAD
  }

  /** The two ends; each is closed separately. */
  public record Pair(Doorbell host, Doorbell guest) {}

  /** Creates a doorbell. Both ends are close-on-exec. */
  // r[impl shm.doorbell.socketpair]
  public static Pair pair(Sys sys) throws ErrnoException {
    Sockets.Pair ends = Sockets.pair(sys, Sockets.Type.STREAM, false);
    return new Pair(
        new Doorbell(sys, ends.first(), Sockets.Type.STREAM),
        new Doorbell(sys, ends.second(), Sockets.Type.STREAM));
  }

  /**
   * Takes over an end that this process has inherited. Any type of Unix socket will do; on a
   * datagram socket the peer's death shows only when ringing.
   *
   * @throws TicketException if the descriptor is not a socket; it is left alone then
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
   * Rings. Never blocks, never raises SIGPIPE, allocates nothing.
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

  /**
   * Rings for something that was published; it stays published whether or not the ring succeeds.
   */
  void announce() {
    if (closed) {
      return;
    }
    try {
      ring();
    } catch (IllegalStateException closedMeanwhile) {
      // Then no thread waits for it either.
    } catch (ErrnoException e) {
      LOG.log(Level.WARNING, "a published message could not be announced", e);
    }
  }

  /** Waits until the peer rings or dies. Must not be called on an event loop thread. */
  public Event await() throws ErrnoException {
    return reader.await(Deadlines.FOREVER);
  }

  /** Waits until the peer rings or dies, at most for the given time. */
  public Event await(Duration atMost) throws ErrnoException {
    return reader.await(Deadlines.after(atMost));
  }

  /** Returns what there is to hear, without waiting. */
  public Event poll() throws ErrnoException {
    return reader.await(System.nanoTime());
  }

  /** How often something was heard here. Read it before testing a condition. */
  long heard() {
    return reader.heard();
  }

  /** Waits unless something was heard since {@code heard} was read, by any thread. */
  Event awaitSince(long heard, long deadlineNanos) throws ErrnoException {
    return reader.awaitSince(heard, deadlineNanos);
  }

  /** Whether a ring has failed because the peer is dead. */
  public boolean isPeerDead() {
    return peerDead;
  }

  /** Whether the kernel reports the peer's death unasked. */
  boolean tellsDeath() {
    return type != Sockets.Type.DATAGRAM;
  }

  /** The descriptor of this end. */
  public int descriptor() {
    return fd.number();
  }

  /**
   * Clears close-on-exec, for callers that start a guest by other means than {@link ShmHost#spawn}.
   * From now on <b>every</b> child that any thread starts inherits this end, and while one of them
   * lives, the guest's death does not show. {@code ProcessBuilder} closes the descriptor in its
   * children regardless. Close this end once the guest runs.
   */
  // r[impl shm.doorbell.clear-cloexec]
  public void inheritable() throws ErrnoException {
    FdFlags.setCloseOnExec(sys, fd.number(), false);
  }

  /** Ends the use of this end without closing its descriptor; an event loop closes that. */
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

  /** For an event loop that reads from it from now on. */
  Fd fd() {
    return fd;
  }

  private void checkOpen() {
    if (closed) {
      throw new IllegalStateException("this end of the doorbell is closed");
    }
  }

  /** Closes this end, which the peer sees as death. Waiting threads get an exception. */
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
