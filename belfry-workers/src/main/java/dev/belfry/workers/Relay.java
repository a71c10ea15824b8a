package dev.belfry.workers;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Two threads, one of which reads jobs and runs the short ones itself, which saves a hand-off. The
 * other stands by. If such a job takes long after all, the stand-in takes over reading, and the
 * first thread stands by once it has finished the job.
 *
 * @param <J> a job
 */
final class Relay<J> {
  /** How often the stand-in looks. A job that it sees twice takes long. */
  private static final long LOOK_NANOS = 10_000_000;

  /** After this many looks without anything new, the stand-in sleeps until it is woken. */
  private static final int IDLE_LOOKS = 2;

  /**
   * The number of the job that the reading thread runs itself, or 0. That thread sets and clears
   * it; if the stand-in clears it first, the stand-in reads from then on.
   */
  private final AtomicLong stint = new AtomicLong();

  /**
   * The last number, with its thread and its job; written by the reading thread before the stint.
   */
  private long stints;

  private @Nullable Thread reading;
  private @Nullable J job;

  /** The thread that stands by, if any. */
  private volatile @Nullable Thread standIn;

  /** Whether the stand-in sleeps until it is woken. Set before its last look. */
  private volatile boolean dozing;

  private volatile boolean over;

  /**
   * Begins a job that the reading thread runs itself.
   *
   * @return its number; 0 if the thread must not run it, because no stand-in is there
   */
  long begin(J next) {
    Thread other = standIn;
    if (other == null) {
      return 0;
    }
    reading = Thread.currentThread();
    job = next;
    long number = stints + 1;
    stints = number;
    stint.set(number); // then read dozing, which the stand-in sets before its last look
    if (dozing) {
      LockSupport.unpark(other);
    }
    return number;
  }

  /** Ends the job; false if the other thread reads by now, and this one must stand by. */
  boolean end(long number) {
    return stint.compareAndSet(number, 0);
  }

  /**
   * Stands by until this thread must read.
   *
   * @param heldUp told which job holds up which thread, before that thread goes on
   * @return whether this thread reads from now on; false if reading has ended
   */
  boolean standBy(BiConsumer<J, Thread> heldUp) {
    standIn = Thread.currentThread();
    long last = 0;
    int idle = 0;
    while (!over) {
      long number = stint.get();
      if (number != 0 && number == last && isTaken(number, heldUp)) {
        return true;
      }
      idle = number == last ? idle + 1 : 0;
      last = number;
      if (idle < IDLE_LOOKS) {
        LockSupport.parkNanos(LOOK_NANOS);
      } else {
        doze();
        idle = 0;
      }
    }
    return false;
  }

  private synchronized boolean isTaken(long number, BiConsumer<J, Thread> heldUp) {
    if (!end(number)) {
      return false;
    }
    standIn = null;
    heldUp.accept(Objects.requireNonNull(job), Objects.requireNonNull(reading));
    return true;
  }

  /** Waits, after {@link #end} was false, until the other thread has dealt with the held-up job. */
  synchronized void awaitTaken() {
    // The other thread holds the lock until then.
  }

  private void doze() {
    dozing = true;
    if (stint.get() == 0 && !over) {
      LockSupport.park(this);
    }
    dozing = false;
  }

  /** Ends reading for good. */
  void end() {
    over = true;
    LockSupport.unpark(standIn);
  }
}
