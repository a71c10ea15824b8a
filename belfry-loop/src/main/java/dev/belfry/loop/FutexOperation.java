package dev.belfry.loop;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Waits while a word of memory, which other processes may share, has a value: until somebody wakes
 * its waiters, as {@link dev.belfry.linux.Futex#wake} does, or at once if it has another value.
 * Made by {@link EventLoop#futex}; may be started again, for the same value or another.
 *
 * <p>Its completion is a hint: whoever gets it looks at the word again. Whoever wakes must have
 * changed the word before; a wake-up for a word that has not changed may be missed.
 *
 * {@snippet :
 * FutexOperation change = loop.futex(word, seen);
 * while ((int) WORD.getAcquire(word, 0L) == seen) {
 *   change.await();
 * }
 * }
 *
 * <p>The word must stay until the operation has completed, and any thread must be able to reach it.
 */
public final class FutexOperation extends Operation<Void> {
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

  /**
   * Sets the value for the next start.
   *
   * @throws IllegalStateException if it was started and has not completed yet
   */
  public FutexOperation expecting(int value) {
    requireIdle();
    expected = value;
    return this;
  }

  MemorySegment word() {
    return word;
  }

  int expected() {
    return expected;
  }

  /** The word for the kernel alone: whoever no longer waits may free it while a thread sleeps. */
  MemorySegment address() {
    return MemorySegment.ofAddress(word.address());
  }

  /**
   * Whether the kernel's answer to a wait says that it is over. Java itself does not look at the
   * word: its memory may be that of a file that was cut.
   */
  static boolean isOver(int answer) {
    return answer != -Errno.ETIMEDOUT;
  }

  @Override
  void launch() {
    loop.driver.start(this);
  }

  @Override
  void withdraw() {
    loop.driver.cancel(this);
  }

  /** The wait is over, as the kernel's answer says; called by the thread that waited. */
  void wokenElsewhere(int answer) {
    if (answer < 0 && answer != -Errno.EAGAIN) {
      woken.failure = new ErrnoException("futex", -answer, "word");
    }
    loop.post(woken);
  }

  /** Nobody can wait for it any more. */
  void failFreed() {
    woken.failure = new IllegalStateException("the memory of the word was given back");
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
