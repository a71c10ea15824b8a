package dev.belfry.shm;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EBADF;
import static dev.belfry.linux.Errno.ECONNRESET;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.shm.Doorbell.Event;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Listens to a bell for all threads of this process that wait for it: one of them blocks in the
 * kernel and drains the socket, the others wait for what it hears. Otherwise one thread could
 * swallow a ring that another waits for.
 */
final class BellReader {
  /** Enough to drain the socket's buffer; a peer that rings without end must not hold us up. */
  private static final int MAX_READS = 16;

  private static final int READ_BYTES = 64;

  private final Sys sys;
  private final Fd fd;

  // For the reading thread.
  private final PollSet pollSet;
  private final MemorySegment buffer = Arena.ofAuto().allocate(READ_BYTES);

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // Written with the lock held.
  private volatile long heard;
  private boolean reading;

  /**
   * Whether the reading thread is in a system call, and so uses the descriptor without the lock.
   */
  private boolean sitting;

  private boolean dead;
  private boolean closed;

  BellReader(Sys sys, Fd fd) {
    this.sys = sys;
    this.fd = fd;
    this.pollSet = new PollSet(sys, 1);
  }

  long heard() {
    return heard;
  }

  Event await(long deadlineNanos) throws ErrnoException {
    return awaitSince(heard, deadlineNanos);
  }

  // r[impl shm.doorbell.wait]
  Event awaitSince(long since, long deadlineNanos) throws ErrnoException {
    lock.lock();
    try {
      while (true) {
        if (closed) {
          throw new IllegalStateException("this end of the doorbell is closed");
        }
        if (heard != since) {
          return Event.SIGNAL;
        }
        if (dead) {
          return Event.DEATH;
        }
        if (!reading) {
          Event event = read(deadlineNanos);
          if (!closed) {
            return event;
          }
        } else if (!awaitChange(deadlineNanos)) {
          return Event.TIMEOUT;
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @SuppressWarnings("WaitNotInLoop") // the caller loops
  private boolean awaitChange(long deadlineNanos) {
    long rest = Deadlines.restNanos(deadlineNanos);
    if (rest <= 0) {
      return false;
    }
    boolean interrupted = Thread.interrupted(); // an interrupt is no reason to stop waiting
    try {
      changed.awaitNanos(rest);
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    return true;
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // with the lock held
  private void count() {
    heard++;
  }

  /** Reads on behalf of all waiters, which can get the lock meanwhile. */
  private Event read(long deadlineNanos) throws ErrnoException {
    reading = true;
    Event event = Event.TIMEOUT;
    try {
      event = Thread.currentThread().isVirtual() ? look(deadlineNanos) : sit(deadlineNanos);
    } finally {
      reading = false;
      if (event == Event.SIGNAL) {
        count();
      }
      dead |= event == Event.DEATH;
      changed.signalAll();
    }
    return event;
  }

  private Event sit(long deadlineNanos) throws ErrnoException {
    sitting = true;
    lock.unlock();
    try {
      return listen(deadlineNanos);
    } finally {
      lock.lock();
      sitting = false;
    }
  }

  private Event listen(long deadlineNanos) throws ErrnoException {
    while (true) {
      pollSet.set(0, fd.number(), PollSet.IN);
      int result = pollSet.await(deadlineNanos);
      if (result < 0) {
        throw new ErrnoException("ppoll", -result, "doorbell");
      }
      if (result == 0) {
        return Event.TIMEOUT;
      }
      int happened = pollSet.happened(0);
      if ((happened & PollSet.NVAL) != 0) {
        throw new ErrnoException("ppoll", EBADF, "doorbell");
      }
      Event event = drain();
      // r[impl shm.doorbell.death]
      boolean hungUp = (happened & (PollSet.HUP | PollSet.ERR)) != 0;
      if (event != Event.TIMEOUT || hungUp) {
        return event == Event.SIGNAL ? event : Event.DEATH;
      }
    }
  }

  /**
   * Polls, for virtual threads, which must not block in a system call. They use the descriptor only
   * with the lock held: the thread that closes it may be their carrier, and cannot wait for them.
   */
  private Event look(long deadlineNanos) throws ErrnoException {
    long pause = Backoff.FIRST_NANOS;
    while (!closed) {
      Event event = drain();
      long rest = Deadlines.restNanos(deadlineNanos);
      if (event != Event.TIMEOUT || rest <= 0) {
        return event;
      }
      lock.unlock();
      try {
        Backoff.pause(Math.min(pause, rest));
      } finally {
        lock.lock();
      }
      pause = Backoff.next(pause);
    }
    return Event.TIMEOUT;
  }

  /** Drains the socket. A ring counts before the peer's hang-up. */
  private Event drain() throws ErrnoException {
    boolean rung = false;
    for (int i = 0; i < MAX_READS; i++) {
      long result = Sockets.receive(sys, fd.number(), buffer);
      if (result > 0) {
        rung = true;
        if (result < READ_BYTES) {
          break; // drained; what arrives now wakes the next wait
        }
      } else if (result == 0 || result == -ECONNRESET) {
        return rung ? Event.SIGNAL : Event.DEATH;
      } else if (result == -EAGAIN) {
        break;
      } else {
        throw new ErrnoException("recv", (int) -result, "doorbell");
      }
    }
    return rung ? Event.SIGNAL : Event.TIMEOUT;
  }

  /** Turns all waiters away, and waits until no thread uses the descriptor any more. */
  void close() {
    lock.lock();
    try {
      closed = true;
      changed.signalAll();
      if (sitting) {
        sys.shutdown(fd.number(), Sockets.SHUT_RDWR); // wakes the reader, which sees a hang-up
      }
      while (sitting) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
