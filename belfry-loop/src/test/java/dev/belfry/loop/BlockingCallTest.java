package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.drive;
import static dev.belfry.loop.DescriptorSupport.tcp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.loop.DescriptorSupport.Tapped;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;

/** The loop blocks in its wait and nowhere else. */
final class BlockingCallTest {
  private static final int MSG_DONTWAIT = 0x40;
  private static final List<String> BLOCKING =
      List.of("poll", "ppoll", "futex", "futexWaitv", "waitid", "pthreadMutexLock", "flock");

  @TempDir Path directory;

  /** Echoes a hundred times, with pauses in which the loop sleeps. */
  private static void echo(EventLoop loop) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      var pair = tcp(loop);
      MemorySegment buffer = arena.allocate(64);
      TransferOperation echoing = pair.second().readSome(buffer);
      TransferOperation answer = pair.second().writeSome(buffer);
      echoing.start(
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Integer> read) {
              if (read.hasValue() && echoing.bytes() > 0) {
                answer.start(_ -> echoing.start(this));
              }
            }
          });
      for (int i = 0; i < 100; i++) {
        DescriptorSupport.write(loop, pair.first(), "x".repeat(64));
        DescriptorSupport.result(loop, pair.first().readAll(arena.allocate(64)));
        if (i % 20 == 0) {
          var pause = DescriptorSupport.start(loop.scheduler().after(Duration.ofMillis(1)));
          drive(loop, pause::done);
        }
      }
      pair.first().close();
      drive(loop, () -> loop.inFlight() == 0);
      pair.second().close();
    }
  }

  // r[verify loop.wait.pwait2]
  @EveryBackend
  void anEchoMakesNoOtherCallThatCanBlock(Backend backend) throws IOException {
    try (var tapped = new Tapped(backend)) {
      var flags = new ArrayList<Integer>();
      for (String call : List.of("send", "recv")) {
        tapped.tap.script(
            call,
            (_, arguments) -> {
              flags.add((int) arguments[3]);
              return OptionalLong.empty();
            });
      }
      echo(tapped.loop);
      if (tapped.isEpoll()) {
        assertThat(flags).isNotEmpty();
      }
      assertThat(flags).allMatch(flag -> (flag & MSG_DONTWAIT) != 0);
      assertThat(tapped.calls("send")).isGreaterThanOrEqualTo(200);
      for (String call : BLOCKING) {
        assertThat(tapped.tap.calls(call)).as(call).isZero();
      }
      assertThat(tapped.tap.calls(tapped.waitCall())).isPositive();
      for (String otherWait : WaitLog.otherCalls(backend)) {
        assertThat(tapped.tap.calls(otherWait)).as(otherWait).isZero();
      }
    }
  }

  /** Echoes between two markers in the system call trace. */
  static final class Echo {
    private Echo() {}

    public static void main(String[] arguments) throws IOException {
      Files.exists(Path.of("/mark-ready"));
      try (EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]))) {
        echo(loop); // loads the classes it needs
        Files.exists(Path.of("/mark-begin"));
        echo(loop);
        Files.exists(Path.of("/mark-end"));
      }
    }
  }

  // r[verify loop.wait.pwait2]
  @EveryBackend
  void theKernelSeesNoOtherEither(Backend backend) throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/strace")), "no strace(1) here");
    Path trace = directory.resolve("trace");
    var command = new ArrayList<>(List.of("strace", "-f", "-o", trace.toString()));
    command.addAll(TestProcess.javaCommand(Echo.class, backend.name()));
    try (var child = TestProcess.start(command)) {
      assertThat(child.exitCode()).as(() -> "strace").isZero();
    }
    var made = new TreeSet<String>();
    String thread = "";
    boolean between = false;
    Pattern line = Pattern.compile("(\\d+) +(?:<\\.\\.\\. )?([a-z0-9_]+)(.*)");
    for (String traced : Files.readAllLines(trace)) {
      Matcher matcher = line.matcher(traced);
      if (!matcher.matches()) {
        continue;
      }
      if (traced.contains("/mark-begin")) {
        thread = matcher.group(1);
        between = true;
      } else if (traced.contains("/mark-end")) {
        between = false;
      } else if (between && matcher.group(1).equals(thread)) {
        made.add(matcher.group(2));
      }
    }
    var expected =
        switch (backend) {
          case EPOLL -> List.of("epoll_pwait2", "sendto", "recvfrom");
          case EPOLL_TIMERFD -> List.of("epoll_wait", "sendto", "recvfrom");
          case IO_URING -> List.of("io_uring_enter");
        };
    assertThat(made).containsAll(expected);
    // The JVM itself makes futex and memory calls; no call of the loop can block.
    assertThat(made)
        .doesNotContain(
            "poll",
            "ppoll",
            "select",
            "pselect6",
            "nanosleep",
            "clock_nanosleep",
            "accept",
            "epoll_pwait");
    assertThat(
            List.of("epoll_wait", "epoll_pwait2", "io_uring_enter").stream().filter(made::contains))
        .hasSize(1);
  }
}
