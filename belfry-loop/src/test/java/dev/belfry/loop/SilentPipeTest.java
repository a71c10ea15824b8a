package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.errno;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Message;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

/** Writing to a reader that is gone causes an error, not a signal that ends the process. */
final class SilentPipeTest {
  private static final long SIGPIPE_BIT = 1L << (13 - 1);

  /** Writes to readers that are gone. */
  static final class Broken {
    private Broken() {}

    public static void main(String[] arguments) throws IOException {
      try (EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]));
          Arena arena = Arena.ofShared()) {
        var tcp = DescriptorSupport.tcp(loop);
        var unix = StreamSocket.pair(loop, loop);
        var pipe = Descriptor.pipe(loop);
        tcp.second().close();
        unix.second().close();
        pipe.reader().close();
        drive(loop, pipe.reader()::isClosed);
        // The first write provokes a reset, the next one fails with it.
        DescriptorSupport.result(loop, tcp.first().writeSome(arena.allocate(8)));
        drive(loop, () -> isBroken(loop, tcp.first(), arena));
        var message = new Message(arena, 1, 0);
        message.data().add(arena.allocate(8));
        var pieces = List.of(arena.allocate(8), arena.allocate(8));
        for (Operation<?> write :
            List.<Operation<?>>of(
                unix.first().writeSome(arena.allocate(8)),
                unix.first().writeSome(pieces),
                unix.first().send(message))) {
          System.out.println("errno " + errno(loop, write));
        }
        Files.readAllLines(Path.of("/proc/thread-self/status")).forEach(System.out::println);
        for (Operation<?> write :
            List.of(pipe.writer().writeSome(arena.allocate(8)), pipe.writer().writeSome(pieces))) {
          System.out.println("errno " + errno(loop, write));
        }
        tcp.first().close();
        unix.first().close();
        pipe.writer().close();
      }
      System.out.println("alive");
    }

    private static boolean isBroken(EventLoop loop, StreamSocket socket, Arena arena) {
      TransferOperation write = socket.writeSome(arena.allocate(8));
      try {
        DescriptorSupport.result(loop, write);
        return false;
      } catch (IOException e) {
        return true;
      }
    }
  }

  // r[verify loop.op.error]
  @EveryBackend
  void nobodyIsEndedByASignal(Backend backend) throws Exception {
    String java =
        TestProcess.javaCommand(Broken.class, backend.name()).stream()
            .map(word -> "'" + word + "'")
            .collect(Collectors.joining(" "));
    String script = "grep -E 'SigIgn|SigBlk' /proc/self/status; exec " + java;
    try (var child = TestProcess.start("sh", "-c", script)) {
      for (String set : List.of("SigBlk:", "SigIgn:")) {
        assertThat(hasPipe(child.line(set))).isFalse();
      }
      for (int i = 0; i < 5; i++) {
        assertThat(child.line("errno ")).isEqualTo(Integer.toString(Errno.EPIPE));
      }
      assertThat(child.line()).isEqualTo("alive");
      assertThat(child.exitCode()).isZero();
    }
  }

  // The JVM has a handler that silently ignores the signal; it shows only where it is blocked.
  // r[verify loop.op.error]
  @EveryBackend
  void aWriteToASocketRaisesNoSignal(Backend backend) throws Exception {
    try (var child = TestProcess.javaWithSignals(Broken.class, backend.name())) {
      assertThat(hasPipe(child.line("SigPnd:"))).isFalse();
      assertThat(hasPipe(child.line("ShdPnd:"))).isFalse();
      assertThat(hasPipe(child.line("SigBlk:"))).as("else it would not be pending").isTrue();
      assertThat(child.exitCode()).isZero();
    }
  }

  private static boolean hasPipe(String signals) {
    return (Long.parseUnsignedLong(signals.strip(), 16) & SIGPIPE_BIT) != 0;
  }
}
