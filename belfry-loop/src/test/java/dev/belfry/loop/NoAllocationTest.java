package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.lang.management.ManagementFactory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The steady state allocates nothing, because operations are reused. {@link TransferAllocationTest}
 * covers reads and writes.
 */
final class NoAllocationTest {
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private static final int WARM_UP = 20_000;
  private static final int MEASURED = 100_000;
  private static final long BOUND = 1024;

  /** How often to measure at most: the JIT compiler may still be at work at first. */
  private static final int WINDOWS = 20;

  /** Starts an operation over and over, and measures what the loop thread allocates. */
  private static final class Repeater<T> implements Completion<T> {
    private final Operation<T> operation;
    private final CompletableFuture<Long> allocated = new CompletableFuture<>();
    private int count;
    private int windows;
    private long before;

    Repeater(Operation<T> operation) {
      this.operation = operation;
    }

    void start() {
      operation.start(this);
    }

    @Override
    public void completed(Operation<? extends T> completed) {
      if (count == WARM_UP) {
        before = THREADS.getCurrentThreadAllocatedBytes();
      }
      if (count++ == WARM_UP + MEASURED) {
        long grown = THREADS.getCurrentThreadAllocatedBytes() - before;
        if (grown < BOUND || ++windows == WINDOWS) {
          allocated.complete(grown);
          return;
        }
        count = 0;
      }
      start();
    }
  }

  // r[verify loop.backend.no-alloc]
  @EveryBackend
  void timersAllocateNothing(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      TimerOperation timer = driven.scheduler().at(0);
      var repeater = new Repeater<>(timer.afterNanos(1));
      repeater.start();
      assertThat(LoopSupport.get(repeater.allocated)).isLessThan(BOUND);
    }
  }

  // r[verify loop.backend.no-alloc]
  @EveryBackend
  void schedulingFromTheLoopAllocatesNothing(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      ScheduleOperation task = driven.scheduler().schedule();
      var repeater = new Repeater<>(task);
      repeater.start();
      assertThat(LoopSupport.get(repeater.allocated)).isLessThan(BOUND);
    }
  }

  // r[verify loop.backend.no-alloc]
  @EveryBackend
  void schedulingFromAnotherThreadAllocatesNothing(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      ScheduleOperation[] tasks = new ScheduleOperation[64];
      for (int i = 0; i < tasks.length; i++) {
        tasks[i] = driven.scheduler().schedule();
      }
      var done = new AtomicInteger();
      Completion<Void> count = _ -> done.incrementAndGet();
      long here = Long.MAX_VALUE;
      long there = Long.MAX_VALUE;
      for (int i = 0; i < WINDOWS && (here >= BOUND || there >= BOUND); i++) {
        submit(tasks, count, done, WARM_UP);
        long hereBefore = THREADS.getCurrentThreadAllocatedBytes();
        long thereBefore = THREADS.getThreadAllocatedBytes(driven.thread().threadId());
        submit(tasks, count, done, MEASURED);
        there = THREADS.getThreadAllocatedBytes(driven.thread().threadId()) - thereBefore;
        here = THREADS.getCurrentThreadAllocatedBytes() - hereBefore;
      }
      assertThat(there).isLessThan(BOUND);
      assertThat(here).isLessThan(BOUND);
    }
  }

  private static void submit(
      ScheduleOperation[] tasks, Completion<Void> count, AtomicInteger done, int times) {
    for (int i = 0; i < times; i += tasks.length) {
      done.set(0);
      for (ScheduleOperation task : tasks) {
        task.start(count);
      }
      long deadline = System.nanoTime() + LoopSupport.PATIENCE.toNanos();
      while (done.get() < tasks.length) {
        if (System.nanoTime() - deadline > 0) {
          throw new AssertionError("lost");
        }
        Thread.onSpinWait();
      }
    }
  }

  @EveryBackend
  void theMeasureSeesAllocations(Backend backend) throws Exception {
    try (Driven driven = Driven.open(backend)) {
      var done = new CountDownLatch(1);
      var grown = new CompletableFuture<Long>();
      driven
          .scheduler()
          .execute(
              () -> {
                long before = THREADS.getCurrentThreadAllocatedBytes();
                var kept = new byte[10_000];
                grown.complete(THREADS.getCurrentThreadAllocatedBytes() - before + kept[0]);
                done.countDown();
              });
      LoopSupport.await(done);
      assertThat(LoopSupport.get(grown)).isGreaterThan(BOUND);
    }
  }
}
