package dev.belfry.loop;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Waits while a word of memory, which other processes may share, has a value: until somebody wakes
 * its waiters, as {@link dev.belfry.linux.Futex#wake} does, or at once if it has another value.
 * Made by {@link EventLoop#futex}; may be started again, for the same value or another.
 *
 * <p>Its completion is a hint: whoever gets it looks at the word again. Whoever wakes must have
 * changed the word before; a wake-up for a word that has not changed may be missed.
 *
 * <p>The word must stay until the operation has completed, and any thread must be able to reach it.
 */
public final class FutexOperation extends Operation<Void> {
  private static final VarHandle WORD = ValueLayout.JAVA_INT.varHandle();

  private final MemorySegment word;
  private int expected;

  /** On its way to the loop when a thread has seen that the wait is over. */
  private final Woken woken = new Woken(this);

  /** On an io_uring, the wait as a request; made when first needed. */
  @Nullable UringFutex request;

  FutexOperation(EventLoop loop, MemorySegment word, int expected) {
    super(loop);
    if (!word.isNative()
        || word.byteSize() < Integer.BYTES
        || word.address() % Integer.BYTES != 0) {
      throw new IllegalArgumentException(
          "a word is four bytes of native memory, aligned, not " + word);
    }
    if (!word.isAccessibleBy(STRANGER)) { // the loop may have another thread wait for it
      throw new IllegalArgumentException(
          "any thread must be able to reach the word: allocate it from Arena.ofAuto() or"
              + " Arena.ofShared()");
    }
    this.word = word;
    this.expected = expected;
  }

  /** Sets the value for the next start. */
  public FutexOperation expecting(int value) {
    expected = value;
    return this;
  }

  MemorySegment word() {
    return word;
  }

  int expected() {
    return expected;
  }

  /** Whether there is no reason to wait, or the word is gone; called by the thread that waits. */
  boolean isOver() {
    try {
      return (int) WORD.getVolatile(word, 0L) != expected;
    } catch (RuntimeException | InternalError e) { // its memory was given back, or cut
      woken.failure = e;
      return true;
    }
  }

  @Override
  void launch() {
    loop.driver.start(this);
  }

  @Override
  void withdraw() {
    loop.driver.cancel(this);
  }

  /** The wait is over; called by the thread that waited. */
  void wokenElsewhere() {
    loop.post(woken);
  }

  @Override
  Void value() {
    return nothing();
  }

  @Override
  public String toString() {
    return "wait for a word to be other than " + expected;
  }

  private static final class Woken extends Task {
    private final FutexOperation operation;
    private @Nullable Throwable failure;

    Woken(FutexOperation operation) {
      this.operation = operation;
    }

    @Override
    public void run() {
      Throwable failed = failure;
      failure = null;
      if (failed == null) {
        operation.completeValue();
      } else {
        operation.completeError(failed);
      }
    }

    @Override
    void abandoned() {} // the loop has ended, and with it the operation
  }
}
