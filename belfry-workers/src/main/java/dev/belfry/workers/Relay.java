package dev.belfry.workers;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Two threads of which one reads jobs and does the short ones itself, which saves a change of
 * threads. The other stands by: if such a job takes long after all, it reads from then on, and the
 * first stands by when it has done with the job.
 *
 * @param <J> a job
 */
final class Relay<J> {
  /** How often who stands by looks: a job that is found twice takes long. */
  private static final long LOOK_NANOS = 10_000_000;

  /** After so many looks at nothing it looks no more, until it is woken. */
  private static final int IDLE_LOOKS = 2;

  /**
   * The number of the job that who reads does itself, or 0. It sets it and takes it back; who
   * stands by may be the first to take it back, and reads then.
   */
  private final AtomicLong stint = new AtomicLong();

  /** The last number, who has set it and for what; written by who reads, before the stint. */
  private long stints;

  private @Nullable Thread reading;
  private @Nullable J job;

  /** Who stands by, if anybody does. */
  private volatile @Nullable Thread standIn;

  /** Who stands by does not look. Set before it looks a last time. */
  private volatile boolean dozing;

  private volatile boolean over;

  /**
   * Begins a job that who reads does itself.
   *
   * @return its number; 0 if it must not, as nobody stands by
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
    stint.set(number); // and then whether the other dozes: who does so sets that first
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

  /** After {@link #end} was false: waits until the other knows what it has taken over from. */
  synchronized void awaitTaken() {
    // Who has the lock has done so.
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
