package dev.belfry.workers;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Two threads of which one fetches calls and runs the short ones itself, which saves a change of
 * threads. The other stands by: if such a call takes long after all, it fetches from then on, and
 * the first stands by when it has done with the call.
 */
final class Relay {
  /** How often who stands by looks: a call that is found twice takes long. */
  private static final long LOOK_NANOS = 10_000_000;

  /** After so many looks at nothing it looks no more, until it is woken. */
  private static final int IDLE_LOOKS = 2;

  /**
   * The number of the call that who fetches runs itself, or 0. It sets it and takes it back; who
   * stands by may be the first to take it back, and fetches then.
   */
  private final AtomicLong stint = new AtomicLong();

  /** The last number, and who has set it; written by who fetches, before the stint. */
  private long stints;

  private @Nullable Thread fetching;

  /** Who stands by, if anybody does. */
  private volatile @Nullable Thread standIn;

  /** Who stands by does not look. Set before it looks a last time. */
  private volatile boolean dozing;

  private volatile boolean over;

  /**
   * Begins a call that who fetches runs itself.
   *
   * @return its number; 0 if it must not, as nobody stands by
   */
  long begin() {
    Thread other = standIn;
    if (other == null) {
      return 0;
    }
    fetching = Thread.currentThread();
    long number = stints + 1;
    stints = number;
    stint.set(number); // and then whether the other dozes: who does so sets that first
    if (dozing) {
      LockSupport.unpark(other);
    }
    return number;
  }

  /** Ends it; false if the other fetches by now, and this thread is to stand by. */
  boolean end(long number) {
    return stint.compareAndSet(number, 0);
  }

  /**
   * Stands by.
   *
   * @param heldUp told which thread is held up by its call, before that thread goes on
   * @return whether this thread fetches from now on; else it is over
   */
  boolean standBy(Consumer<Thread> heldUp) {
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

  private synchronized boolean isTaken(long number, Consumer<Thread> heldUp) {
    if (!end(number)) {
      return false;
    }
    standIn = null;
    heldUp.accept(Objects.requireNonNull(fetching));
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

  /** Nobody fetches any more. */
  void end() {
    over = true;
    LockSupport.unpark(standIn);
  }
}
