package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Once an operation has completed, in whatever way, its buffer belongs to the caller again: the
 * kernel neither writes to it nor reads what the caller has put there since. Tested where the
 * kernel holds buffers longest, with direct I/O on a file.
 */
@Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class BufferOwnershipTest {
  private static final byte POISON = (byte) 0xdb;
  private static final byte DATA = 0x5a;
  private static final int BUFFERS = 4;
  private static final int BLOCK = 4096;
  private static final int FILE_BLOCKS = 256;

  @TempDir private Path directory = Path.of("");

  /** Buffers that are filled with poison while not in use. Loop thread only. */
  private static final class PoisonedBuffers {
    private final Deque<MemorySegment> free = new ArrayDeque<>();
    private final MemorySegment poison = Arena.ofAuto().allocate(BLOCK).fill(POISON);
    private final AtomicInteger spoiled = new AtomicInteger();

    PoisonedBuffers() {
      for (int i = 0; i < BUFFERS; i++) {
        giveBack(Arena.ofAuto().allocate(BLOCK, BLOCK));
      }
    }

    /** The buffer that has been unused for longest. */
    MemorySegment take() {
      MemorySegment buffer = free.removeFirst();
      if (buffer.mismatch(poison) != -1) {
        spoiled.incrementAndGet();
      }
      return buffer;
    }

    void giveBack(MemorySegment buffer) {
      free.addLast(buffer.fill(POISON));
    }
  }

  /** Starts one operation after the other, each with another buffer; loop thread only. */
  private static final class Endless implements Completion<Integer> {
    private final PoisonedBuffers buffers = new PoisonedBuffers();
    private final Random random = new Random(6);
    private final byte fill;
    private final BiFunction<MemorySegment, Long, TransferOperation> operation;
    private MemorySegment buffer = MemorySegment.NULL;
    private volatile @Nullable TransferOperation inFlight;
    private final AtomicInteger completed = new AtomicInteger();
    private final AtomicInteger stopped = new AtomicInteger();
    private volatile boolean over;

    Endless(byte fill, BiFunction<MemorySegment, Long, TransferOperation> operation) {
      this.fill = fill;
      this.operation = operation;
    }

    void next() {
      buffer = buffers.take().fill(fill);
      long place = (long) random.nextInt(FILE_BLOCKS) * BLOCK;
      TransferOperation started = operation.apply(buffer, place);
      inFlight = started;
      started.start(this);
    }

    @Override
    public void completed(Operation<? extends Integer> ended) {
      completed.incrementAndGet();
      if (ended.outcome() == Outcome.STOPPED) {
        stopped.incrementAndGet();
      } else {
        assertThat(ended.outcome()).isEqualTo(Outcome.VALUE);
      }
      buffers.giveBack(buffer);
      inFlight = null;
      if (!over) {
        next();
      }
    }

    void cancel() {
      TransferOperation current = inFlight;
      if (current != null) {
        current.cancel();
      }
    }
  }

  /** Opens a file of data, starts and cancels operations on it at random, and closes it. */
  private int race(Backend backend, Path path, byte fill, boolean reads) throws Exception {
    var content = new byte[FILE_BLOCKS * BLOCK];
    Arrays.fill(content, DATA);
    Files.write(path, content);
    int rounds = LoopSupport.rounds(1_000, 100_000);
    try (Driven driven = Driven.open(backend)) {
      int flags = OpenFlags.READ_WRITE | OpenFlags.direct();
      RegularFile file =
          LoopSupport.get(RegularFile.open(driven.loop(), path, flags, 0).toFuture());
      var operations = new Endless(fill, reads ? file::readAt : file::writeAt);
      driven.scheduler().execute(operations::next);
      var random = new Random(5);
      // On epoll, which does not help with files, the call is made at once and never stopped.
      boolean isNoneStopped = backend == Backend.IO_URING;
      while (operations.completed.get() < rounds || isNoneStopped) {
        operations.cancel();
        isNoneStopped &= operations.stopped.get() == 0;
        LockSupport.parkNanos(random.nextInt(20_000));
      }
      operations.over = true;
      LoopSupport.await(() -> operations.inFlight == null);
      file.close();
      return operations.buffers.spoiled.get();
    }
  }

  // r[verify loop.cancel.stopped]
  @EveryBackend
  void nothingIsWrittenToTheBufferOfAReadThatHasCompleted(Backend backend) throws Exception {
    assertThat(race(backend, directory.resolve("data"), POISON, true)).isZero();
  }

  // r[verify loop.cancel.stopped]
  @EveryBackend
  void nothingIsReadFromTheBufferOfAWriteThatHasCompleted(Backend backend) throws Exception {
    Path path = directory.resolve("data");
    assertThat(race(backend, path, DATA, false)).isZero();
    for (byte each : Files.readAllBytes(path)) {
      if (each != DATA) {
        throw new AssertionError("poison was written to the file");
      }
    }
  }
}
