package dev.belfry.loop;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * Waits while a word of memory, possibly shared with other processes, has a given value. Completes
 * when the waiters of the word are woken, as {@link dev.belfry.linux.Futex#wake} does, or at once
 * if the word has another value. Created by {@link EventLoop#futex}. It may be started again, for
 * the same value or another.
 *
 * <p>Completion is a hint: read the word again. The waking side must change the word before it
 * wakes; a wake-up for an unchanged word may be missed.
 *
 * {@snippet :
 * FutexOperation change = loop.futex(word, seen);
 * while ((int) WORD.getAcquire(word, 0L) == seen) {
 *   change.await();
 * }
 * }
 *
 * <p>The memory of the word must stay allocated until the operation has completed, and be
 * accessible to any thread.
 */
public final class FutexOperation extends Operation<Void> {
  private final MemorySegment word;
  private int expected;

  /** Takes the result to the loop after a helper thread has seen the wait end. */
  private final Woken woken = new Woken(this);

  /** The wait as a request to io_uring; created when first needed. */
  @Nullable UringFutex request;

  FutexOperation(EventLoop loop, MemorySegment word, int expected) {
    super(loop);
    if (!word.isNative()
        || word.byteSize() < Integer.BYTES
        || word.address() % Integer.BYTES != 0) {
      throw new IllegalArgumentException(
          "a word is four bytes of native memory, aligned, not " + word);
    }
    if (!word.isAccessibleBy(STRANGER)) { // the loop may let another thread wait
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

  /**
   * The word's address, without its scope: once cancelled, it may be freed while a thread sleeps.
   */
  MemorySegment address() {
    return MemorySegment.ofAddress(word.address());
  }

  /**
   * Whether the kernel's answer to a wait says that it is over. Java does not read the word itself:
   * if the memory maps a file that was truncated, the read would fault.
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

  /** The wait is over; called by the thread that waited, with the kernel's answer. */
  void wokenElsewhere(int answer) {
    if (answer < 0 && answer != -Errno.EAGAIN) {
      woken.failure = new ErrnoException("futex", -answer, "word");
    }
    loop.post(woken);
  }

  /** The memory of the word was freed before the wait began. */
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
    void abandoned() {} // the operation ended with the loop
  }
}
