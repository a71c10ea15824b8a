package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Room for a message of one link, for waiters on an event loop: they sleep on the same words as
 * threads do, so that the peer wakes both alike, but it is the loop that sleeps for them. Like
 * threads, they look again after 50 ms at most. For any number of loops.
 */
// r[impl shm.wakeup.loop-wait]
final class Room {
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  private final Link link;
  private final long sliceNanos;

  /** Whether the last room that somebody slept for came without a wake-up, as with some peers. */
  private volatile boolean silent;

  Room(Link link) {
    this(link, Waiter.SLICE_NANOS);
  }

  /**
   * Room of a link.
   *
   * @param sliceNanos after how long to look again though nobody has woken us
   */
  Room(Link link, long sliceNanos) {
    this.link = link;
    this.sliceNanos = sliceNanos;
  }

  /** Waits on a loop for what has kept a message from being sent. */
  CompletableFuture<Awaited> await(EventLoop loop, SendResult refused) {
    Awaitable what =
        switch (refused) {
          case RING_FULL -> link.outbox().anySpace();
          case NO_SLOT -> link.outbox().anySlot();
          default -> throw new IllegalArgumentException(refused + " is not for want of room");
        };
    var wait = new Wait(loop, what);
    loop.scheduler().schedule().start(wait::begun);
    return wait.result;
  }

  /** One wait; all but the result is for the loop thread. */
  private final class Wait {
    private final EventLoop loop;
    private final Awaitable what;
    private final CompletableFuture<Awaited> result = new CompletableFuture<>();

    /** What ends the sleep: the words, and the timer last. None while it is awake. */
    private List<Operation<?>> sleeping = List.of();

    Wait(EventLoop loop, Awaitable what) {
      this.loop = loop;
      this.what = what;
    }

    void begun(Operation<?> turn) {
      if (turn.hasValue()) {
        look(false);
      } else {
        result.cancel(false); // the loop has been stopped
      }
    }

    private void look(boolean late) {
      if (result.isDone()) {
        return; // it was cancelled
      }
      try {
        if (what.isOver()) { // this first: then the entry may be another's
          result.complete(Awaited.OVER);
          return;
        }
        int expected = what.arm();
        if (!what.isReady()) {
          sleep(expected);
          return;
        }
        silent |= late;
        result.complete(Awaited.READY);
      } catch (InternalError fault) {
        result.completeExceptionally(link.segment().lost(fault));
      } catch (RuntimeException e) {
        result.completeExceptionally(e);
      }
    }

    private void sleep(int expected) {
      var operations = new ArrayList<Operation<?>>();
      what.words(expected, (word, value) -> operations.add(loop.futex(word, value)));
      long slice = silent ? SILENT_SLICE_NANOS : sliceNanos;
      operations.add(loop.scheduler().at(System.nanoTime() + slice));
      sleeping = operations;
      operations.forEach(operation -> operation.start(this::ended));
    }

    private void ended(Operation<?> first) {
      List<Operation<?>> all = sleeping;
      if (!all.contains(first)) {
        return; // another has ended this sleep
      }
      sleeping = List.of();
      all.forEach(Operation::cancel);
      switch (first.outcome()) {
        case VALUE -> {
          boolean late = first == all.getLast();
          silent &= late;
          look(late);
        }
        case STOPPED -> result.cancel(false);
        case ERROR -> fail(Objects.requireNonNull(first.error()));
      }
    }

    private void fail(Throwable refusal) {
      try {
        link.segment().checkIntact(); // memory that was cut off is the likely reason
        result.completeExceptionally(refusal);
      } catch (SegmentLost lost) {
        result.completeExceptionally(lost);
      }
    }
  }

  /** Is told of the words to sleep on. */
  @FunctionalInterface
  interface Words {
    /** One word, and the value that it has while there is nothing new. */
    void sleepOn(MemorySegment word, int expected);
  }
}
