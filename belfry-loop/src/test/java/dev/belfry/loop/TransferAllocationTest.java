package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.List;

/** The steady state of reads and writes allocates nothing. */
final class TransferAllocationTest {
  private static final int ROUNDS = 100_000;

  /** Sends back and forth a number of times. */
  private static final class PingPong implements Completion<Integer> {
    private final TransferOperation write;
    private final TransferOperation read;
    private final boolean begins;
    private int left;

    PingPong(ByteHandle handle, MemorySegment buffer, boolean begins) {
      this.write = handle.writeAll(buffer);
      this.read = handle.readSome(buffer);
      this.begins = begins;
    }

    void go(int rounds) {
      left = rounds;
      if (begins) {
        write.start(this);
      } else {
        read.start(this);
      }
    }

    @Override
    public void completed(Operation<? extends Integer> operation) {
      if (operation == read && left > 0 && --left == 0 && begins) {
        return;
      }
      if (operation == write && left == 0) {
        return;
      }
      (operation == write ? read : write).start(this);
    }
  }

  /** Runs in a JVM of its own, whose JIT compiler has seen nothing else. */
  static final class Playing {
    private Playing() {}

    public static void main(String[] arguments) throws IOException {
      var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
      try (Arena arena = Arena.ofShared();
          EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]))) {
        for (var pair : List.of(StreamSocket.pair(loop, loop), DescriptorSupport.tcp(loop))) {
          var first = new PingPong(pair.first(), arena.allocate(64), true);
          var second = new PingPong(pair.second(), arena.allocate(64), false);
          long least = Long.MAX_VALUE;
          // Code that is not compiled yet allocates, so the first rounds are a warm-up.
          for (int attempt = 0; attempt < 20 && least >= 1024; attempt++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            play(loop, first, second, ROUNDS / 2);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
          }
          System.out.println("allocated " + least);
          pair.first().close();
          pair.second().close();
        }
      }
    }

    private static void play(EventLoop loop, PingPong first, PingPong second, int rounds)
        throws IOException {
      second.go(rounds);
      first.go(rounds);
      do {
        loop.runUntilEmpty();
      } while (first.left > 0);
    }
  }

  // r[verify loop.backend.no-alloc]
  @EveryBackend
  void readsAndWritesAllocateNothing(Backend backend) throws Exception {
    var command = TestProcess.javaCommand(Playing.class, backend.name());
    command.removeIf(argument -> argument.contains("TieredStopAtLevel"));
    try (var child = TestProcess.start(command)) {
      for (String kind : List.of("a Unix socket", "TCP")) {
        assertThat(Long.parseLong(child.line("allocated "))).as(kind).isLessThan(1024);
      }
    }
  }
}
