package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Consumer;

/** One busy descriptor does not starve the others. */
final class FairnessTest {
  private static final long SPAN_NANOS = 400_000_000;

  private final Arena arena = Arena.ofAuto();

  /** Reads without end. */
  private static void readForEver(TransferOperation reading, Consumer<Integer> count) {
    reading.start(
        new Completion<>() {
          @Override
          public void completed(Operation<? extends Integer> read) {
            if (read.hasValue()) {
              count.accept(reading.bytes());
              reading.start(this);
            }
          }
        });
  }

  // r[verify loop.op.fair]
  @EveryBackend
  void aFirehoseStarvesNeitherTimersNorDescriptors(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      EventLoop loop = tapped.loop;
      // A device that always has data and never has to wait, whether epoll supports it or not.
      RegularFile hose =
          DescriptorSupport.result(
              loop, RegularFile.open(loop, Path.of("/dev/zero"), OpenFlags.READ_ONLY, 0));
      var bytes = new long[1];
      readForEver(hose.readSome(arena.allocate(16 * 1024)), count -> bytes[0] += count);

      // The other descriptor gets a byte in each turn.
      var pipe = Descriptor.pipe(loop);
      var served = new long[1];
      readForEver(pipe.reader().readSome(arena.allocate(64)), _ -> served[0]++);
      MemorySegment one = arena.allocate(1);

      TimerOperation timer = loop.scheduler().after(Duration.ZERO);
      var fired = new long[1];
      var go = new boolean[] {true};
      var next = new long[] {loop.scheduler().now() + 1_000_000};
      timer
          .at(next[0])
          .start(
              new Completion<>() {
                @Override
                public void completed(Operation<? extends Void> done) {
                  fired[0]++;
                  if (go[0]) {
                    next[0] = loop.scheduler().now() + 1_000_000;
                    timer.at(next[0]).start(this);
                  }
                }
              });
      long end = System.nanoTime() + SPAN_NANOS;
      long turns = 0;
      while (System.nanoTime() < end) {
        assertThat(tapped.tap.sys().write(pipe.writer().descriptor(), one, 1)).isEqualTo(1);
        long before = served[0];
        long firedBefore = fired[0];
        boolean due = loop.scheduler().now() >= next[0];
        loop.runSome();
        turns++;
        if (due) {
          assertThat(fired[0]).as("the timer in turn %d", turns).isGreaterThan(firedBefore);
        }
        if (turns > 1) {
          assertThat(served[0]).as("turn %d", turns).isGreaterThan(before);
        }
      }
      go[0] = false;
      assertThat(turns).isGreaterThan(10);
      // About one share per turn; with requests, one request.
      assertThat(bytes[0]).isGreaterThan(turns * (tapped.isEpoll() ? 100_000 : 8_000));
      assertThat(bytes[0]).isLessThanOrEqualTo((turns + 1) * (256 * 1024 + 16 * 1024));
      assertThat(fired[0]).isPositive();
      hose.close();
      pipe.reader().close();
      pipe.writer().close();
      drive(loop, () -> loop.inFlight() == 0);
    }
  }

  // r[verify loop.op.fair]
  @EveryBackend
  void aCoroutineThatReadsAFirehoseGivesWay(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      RegularFile hose =
          DescriptorSupport.result(
              loop, RegularFile.open(loop, Path.of("/dev/zero"), OpenFlags.READ_ONLY, 0));
      var reader =
          loop.spawn(
              "hose",
              () -> {
                TransferOperation reading = hose.readSome(arena.allocate(16 * 1024));
                while (true) {
                  reading.await();
                }
              });
      for (int i = 0; i < 20; i++) {
        var timer = DescriptorSupport.start(loop.scheduler().after(Duration.ofMillis(1)));
        drive(loop, timer::done);
      }
      reader.cancel();
      drive(loop, reader.result()::isDone);
      hose.close();
    }
  }

  // r[verify loop.op.fair]
  @EveryBackend
  void ofReadsThatQueueUpATurnServesAShareOfBytes(Backend backend) throws IOException {
    try (EventLoop loop =
        EventLoop.open(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1000, 1_000))) {
      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.send(pair.second(), "x".repeat(10_000));
      var done = new int[1];
      for (int i = 0; i < 20; i++) {
        pair.first().readSome(arena.allocate(100)).start(_ -> done[0]++);
      }
      loop.runSome();
      assertThat(done[0]).isEqualTo(10);
      loop.runSome();
      assertThat(done[0]).isEqualTo(20);
      pair.first().close();
      pair.second().close();
    }
  }

  // r[verify loop.op.fair]
  @EveryBackend
  void theSharesAreSettings(Backend backend) throws IOException {
    try (var tapped =
        new Tapped(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1000, 1_000))) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.send(pair.second(), "x".repeat(10_000));
      var bytes = new long[1];
      readForEver(pair.first().readSome(arena.allocate(100)), count -> bytes[0] += count);
      for (int turn = 1; turn <= 10; turn++) {
        loop.runSome();
        assertThat(bytes[0]).isEqualTo(turn * (tapped.isEpoll() ? 1000L : 100L));
      }
      pair.first().close();
      pair.second().close();
    }
    try (var tapped =
        new Tapped(LoopOptions.DEFAULT.withBackend(backend).withTurnLimits(1 << 20, 3))) {
      EventLoop loop = tapped.loop;
      var pair = StreamSocket.pair(loop, loop);
      DescriptorSupport.send(pair.second(), "x".repeat(100));
      var bytes = new long[1];
      readForEver(pair.first().readSome(arena.allocate(10)), count -> bytes[0] += count);
      loop.runSome();
      assertThat(bytes[0]).isEqualTo(tapped.isEpoll() ? 30 : 10);
      pair.first().close();
      pair.second().close();
    }
  }
}
