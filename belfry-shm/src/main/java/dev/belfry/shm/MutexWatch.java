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
 * Watches the robust mutex of a guest for the death of its owner, which the kernel marks in it
 * before it frees the memory of the process. Never locks it, only asks to be woken. On the loop
 * thread, unless said otherwise.
 */
final class MutexWatch {
  /** How often to look at a mutex that is not locked: nobody wakes us for that. */
  private static final Duration LOOK = Duration.ofMillis(20);

  /** A value that no such word ever has: a wait for it ends at once. */
  private static final int NO_VALUE = -1;

  private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment word;
  private final BooleanSupplier isThere;
  private final Runnable died;
  private final FutexOperation wait;
  private final TimerOperation pause;
  private volatile boolean over;

  /**
   * Begins to watch. The first look comes when the caller is done with what it does.
   *
   * @param isThere whether the memory of the mutex is there; if it was cut away, the watch ends
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
      return; // just now; whoever uses the memory finds out
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
   * Sets the bit by which the kernel knows that somebody sleeps on the word, unless nobody owns it.
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

  /** Ends the watch, before the mutex is taken away. Any thread. */
  void end() {
    over = true;
    wait.cancel();
    pause.cancel();
  }
}
