package dev.belfry.shm;

import dev.belfry.linux.RobustMutex;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.FutexOperation;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.function.BooleanSupplier;

/**
 * Watches the robust mutex of a guest for the death of its owner. The kernel marks the death in the
 * mutex before it frees the memory of the process. The watch never locks the mutex, it only asks to
 * be woken. Confined to the loop thread unless stated otherwise.
 */
final class MutexWatch {
  /** How often to look at a mutex that is not held: the kernel does not wake us for it. */
  private static final Duration LOOK = Duration.ofMillis(20);

  /** A value that such a word never has: a wait for it ends at once. */
  private static final int NO_VALUE = -1;

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment word;
  private final BooleanSupplier isThere;
  private final Runnable died;
  private final FutexOperation wait;
  private final TimerOperation pause;
  private volatile boolean over;

  /**
   * Starts to watch. The first look comes after the caller's current work on the loop.
   *
   * @param isThere whether the memory of the mutex is intact; if it was truncated, the watch ends
   * @param died called once if the owner dies
   */
  MutexWatch(EventLoop loop, RobustMutex mutex, BooleanSupplier isThere, Runnable died) {
    this.word = mutex.word();
    this.isThere = isThere;
    this.died = died;
    this.wait = loop.futex(word, NO_VALUE);
    this.pause = loop.scheduler().after(LOOK);
    wait.start(this::lookAgain);
  }

  private void look() {
    int value;
    try {
      value = askToBeWoken();
    } catch (InternalError cut) {
      return; // truncated just now; other users of the memory report it
    }
    if ((value & RobustMutex.OWNER_DIED) != 0) {
      over = true;
      died.run();
    } else if ((value & RobustMutex.OWNER_MASK) == 0) {
      pause.start(this::lookAgain);
    } else {
      wait.expecting(value).start(this::lookAgain);
    }
  }

  private void lookAgain(Operation<?> ended) {
    if (!over && ended.hasValue() && isThere.getAsBoolean()) {
      look();
    }
  }

  /**
   * Sets the waiters bit, which makes the kernel wake us, unless the mutex has no owner.
   *
   * @return the value to sleep on
   */
  private int askToBeWoken() {
    while (true) {
      int value = (int) INT.getAcquire(word, 0L);
      boolean owned = (value & RobustMutex.OWNER_MASK) != 0;
      if (!owned || (value & RobustMutex.WAITERS) != 0) {
        return value;
      }
      if (INT.compareAndSet(word, 0L, value, value | RobustMutex.WAITERS)) {
        return value | RobustMutex.WAITERS;
      }
    }
  }

  /** Ends the watch, before the memory of the mutex is reused. Any thread. */
  void end() {
    over = true;
    wait.cancel();
    pause.cancel();
  }
}
