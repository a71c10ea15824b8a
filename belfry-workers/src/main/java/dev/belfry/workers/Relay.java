package dev.belfry.workers;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Two threads, one of which reads jobs and does the short ones itself, which saves a change of
 * threads. The other stands by: if such a job takes long after all, it reads from then on, and the
 * first stands by once it is done with the job.
 *
 * @param <J> a job
 */
final class Relay<J> {
  /** How often the stand-in looks: a job that it finds twice takes long. */
  private static final long LOOK_NANOS = 10_000_000;

  /** After so many looks that find nothing new it stops looking until it is woken. */
  private static final int IDLE_LOOKS = 2;

  /**
   * The number of the job that the reading thread does itself, or 0. That thread sets it and takes
   * it back; the stand-in may take it back first, and then reads.
   */
  private final AtomicLong stint = new AtomicLong();

  /** The last number, who set it and for what; written by the reading thread, before the stint. */
  private long stints;

  private @Nullable Thread reading;
  private @Nullable J job;

  /** The thread that stands by, if any. */
  private volatile @Nullable Thread standIn;

  /** Whether the stand-in has stopped looking. Set before its last look. */
  private volatile boolean dozing;

  private volatile boolean over;

  /**
   * Begins a job that the reading thread does itself.
   *
   * @return its number; 0 if it must not, because nobody stands by
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
    stint.set(number); // then look whether the other dozes: it says so before its last look
    if (dozing) {
      LockSupport.unpark(other);
    }
    return number;
  }

  /** Ends it; false if the other reads by now, and this thread is to stand by. */
  boolean end(long number) {
    return stint.compareAndSet(number, 0);
  }

  /**
   * Stands by.
   *
   * @param heldUp told which job holds up which thread, before that thread goes on
   * @return whether this thread reads from now on; else it is over
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

  /** After {@link #end} was false: waits until the other has dealt with the held-up job. */
  synchronized void awaitTaken() {
    // The other holds the lock until then.
  }

  private void doze() {
    dozing = true;
    if (stint.get() == 0 && !over) {
      LockSupport.park(this);
    }
    dozing = false;
  }

  /** Nobody reads any more. */
  void end() {
    over = true;
    LockSupport.unpark(standIn);
  }
}
