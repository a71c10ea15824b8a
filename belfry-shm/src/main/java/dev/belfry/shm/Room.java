package dev.belfry.shm;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

/**
 * Waits on an event loop for room to send on one link. Such waiters sleep on the same words as
 * threads do, so the peer wakes both alike, but the loop sleeps for them. Like threads, they poll
 * after 50 ms at most. Any number of loops may wait.
 */
// r[impl shm.wakeup.loop-wait]
final class Room {
  private static final long SILENT_SLICE_NANOS = 1_000_000;

  private final Link link;
  private final long sliceNanos;

  /** Whether the last room that was slept for came without a wake-up, as with some peers. */
  private volatile boolean silent;

  Room(Link link) {
    this(link, Waiter.SLICE_NANOS);
  }

  /**
   * The room of a link.
   *
   * @param sliceNanos how long to sleep without a wake-up before looking again
   */
  Room(Link link, long sliceNanos) {
    this.link = link;
    this.sliceNanos = sliceNanos;
  }

  /** Waits on a loop for what kept a message from being sent. */
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

  /** One wait. Everything but the result is confined to the loop thread. */
  private final class Wait {
    private final EventLoop loop;
    private final Awaitable what;
    private final CompletableFuture<Awaited> result = new CompletableFuture<>();

    /** The operations that end the sleep: the words first, the timer last. Empty while awake. */
    private List<Operation<?>> sleeping = List.of();

    Wait(EventLoop loop, Awaitable what) {
      this.loop = loop;
      this.what = what;
    }

    void begun(Operation<?> turn) {
      if (turn.hasValue()) {
        look(false);
      } else {
        result.cancel(false); // the loop was stopped
      }
    }

    private void look(boolean late) {
      if (result.isDone()) {
        return; // cancelled
      }
      try {
        if (what.isOver()) { // first, as the entry may belong to another guest afterwards
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
        return; // this sleep has already ended
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
        link.segment().checkIntact(); // truncated memory is the likely reason
        result.completeExceptionally(refusal);
      } catch (SegmentLost lost) {
        result.completeExceptionally(lost);
      }
    }
  }

  /** Receives the words to sleep on. */
  @FunctionalInterface
  interface Words {
    /** Names a word, and the value it has as long as there is nothing new. */
    void sleepOn(MemorySegment word, int expected);
  }
}
