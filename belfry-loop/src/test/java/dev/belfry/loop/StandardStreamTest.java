package dev.belfry.loop;

import static dev.belfry.loop.DescriptorSupport.bytes;
import static dev.belfry.loop.DescriptorSupport.read;
import static dev.belfry.loop.DescriptorSupport.result;
import static dev.belfry.loop.DescriptorSupport.text;
import static dev.belfry.loop.DescriptorSupport.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The standard streams, of every kind, own and shared, in processes of their own. */
final class StandardStreamTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;

  /** Copies standard input to standard output, and reports the end. */
  static final class Copy {
    private Copy() {}

    public static void main(String[] arguments) throws IOException {
      boolean shared = FdFlags.isNonBlocking(SYS, 0);
      try (EventLoop loop = EventLoop.open();
          StandardStream in = StandardStream.in(loop);
          StandardStream out = StandardStream.out(loop)) {
        String text = read(loop, in);
        while (!text.equals("<end>")) {
          write(loop, out, "copy:" + text);
          if (text.startsWith("bye")) {
            break;
          }
          text = read(loop, in);
        }
        boolean changed = FdFlags.isNonBlocking(SYS, 0) != shared;
        write(loop, out, "ended " + (changed ? "changed" : "unchanged") + "\n");
      }
    }
  }

  /** A command line for a shell. */
  private static String shell(Class<?> main, String... arguments) {
    return TestProcess.javaCommand(main, arguments).stream()
        .map(word -> "'" + word + "'")
        .collect(Collectors.joining(" "));
  }

  // r[verify loop.op.read-some] r[verify loop.op.write-some]
  @Test
  void pipesAreCopied() throws Exception {
    try (var child = TestProcess.java(Copy.class)) {
      child.say("first");
      assertThat(child.line()).isEqualTo("copy:first");
      child.say("second");
      assertThat(child.line()).isEqualTo("copy:second");
      child.endInput();
      assertThat(child.line()).isEqualTo("ended unchanged");
      assertThat(child.exitCode()).isZero();
    }
  }

  // r[verify loop.op.regular-file]
  @Test
  void nothingIsReadFromDevNull() throws Exception {
    try (var child = TestProcess.start("sh", "-c", shell(Copy.class) + " < /dev/null")) {
      assertThat(child.line()).isEqualTo("ended unchanged");
      assertThat(child.exitCode()).isZero();
    }
  }

  // Regression: a file was reopened and so read from its beginning again, whatever the shell had
  // read; and later output of the shell overwrote ours.
  // r[verify loop.op.regular-file]
  @Test
  void theShellAndWeGoOnWhereTheOtherStopped() throws Exception {
    Path in = Files.writeString(directory.resolve("in"), "for the shell\nfor us\n");
    Path out = directory.resolve("out");
    String script =
        "{ read line; echo \"shell:$line\"; %s; echo last; } < '%s' > '%s'"
            .formatted(shell(Copy.class), in, out);
    try (var child = TestProcess.start("sh", "-c", script)) {
      assertThat(child.exitCode()).isZero();
      assertThat(Files.readAllLines(out))
          .containsExactly("shell:for the shell", "copy:for us", "ended unchanged", "last");
    }
  }

  // Regression: with one socket as input and output, as inetd provides it, closing one of them made
  // calls on the other block.
  // r[verify loop.fd.nonblock]
  @Test
  void aSocketThatOthersShareStaysAsItWas() throws Exception {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, true);
    try (Arena arena = Arena.ofConfined();
        Fd ours = pair.first();
        Fd theirs = pair.second();
        PidFd child =
            Spawn.command(TestProcess.javaCommand(Copy.class))
                .standard(0, theirs.number())
                .standard(1, theirs.number())
                .start(SYS)) {
      assertThat(SYS.write(ours.number(), bytes(arena, "bye"), 3)).isEqualTo(3);
      String expected = "copy:byeended unchanged\n";
      MemorySegment buffer = arena.allocate(expected.length());
      long got = 0;
      while (got < expected.length()) {
        long some = SYS.read(ours.number(), buffer.asSlice(got), expected.length() - got);
        assertThat(some).isPositive();
        got += some;
        assertThat(FdFlags.isNonBlocking(SYS, theirs.number())).isFalse();
      }
      assertThat(text(buffer, (int) got)).isEqualTo(expected);
      assertThat(child.awaitExit().shellCode()).isZero();
      assertThat(FdFlags.isNonBlocking(SYS, theirs.number())).isFalse();
    }
  }

  /** Has a standard output that cannot be reopened. */
  static final class Borrow {
    private Borrow() {}

    public static void main(String[] arguments) throws IOException {
      try (EventLoop loop = EventLoop.open()) {
        StandardStream out = StandardStream.out(loop);
        String told = "open " + FdFlags.isNonBlocking(SYS, 1);
        if (arguments[1].equals("close")) {
          out.close();
          DescriptorSupport.drive(loop, out::isClosed);
          told += ", closed " + FdFlags.isNonBlocking(SYS, 1);
        }
        Files.writeString(Path.of(arguments[0]), told);
        System.exit(0);
      }
    }
  }

  // r[verify loop.fd.nonblock]
  @ParameterizedTest
  @ValueSource(strings = {"close", "exit"})
  void aFlagThatHadToBeBorrowedIsPutBack(String how) throws Exception {
    Path told = directory.resolve("told");
    try (Fd shared = Fd.own(SYS, SYS.eventfd(0, 0), "eventfd")) { // cannot be reopened by a path
      List<String> command = TestProcess.javaCommand(Borrow.class, told.toString(), how);
      try (PidFd child = Spawn.command(command).standard(1, shared.number()).start(SYS)) {
        assertThat(child.awaitExit().shellCode()).isZero();
      }
      assertThat(Files.readString(told))
          .isEqualTo(how.equals("close") ? "open true, closed false" : "open true");
      assertThat(FdFlags.isNonBlocking(SYS, shared.number())).isFalse();
    }
  }

  /** Input and output share an open file description that cannot be reopened; reports its flags. */
  static final class BorrowTwice {
    private BorrowTwice() {}

    public static void main(String[] arguments) throws IOException {
      try (EventLoop loop = EventLoop.open()) {
        StandardStream in = StandardStream.in(loop);
        StandardStream out = StandardStream.out(loop);
        String told = "open " + FdFlags.isNonBlocking(SYS, 1);
        in.close();
        DescriptorSupport.drive(loop, in::isClosed);
        told += ", one left " + FdFlags.isNonBlocking(SYS, 1);
        out.close();
        DescriptorSupport.drive(loop, out::isClosed);
        told += ", closed " + FdFlags.isNonBlocking(SYS, 1);
        Files.writeString(Path.of(arguments[0]), told);
      }
    }
  }

  // Regression: closing the first restored the flag, and a call on the other could then block the
  // whole loop.
  // r[verify loop.fd.nonblock]
  @Test
  void aFlagThatTwoHaveBorrowedIsPutBackByTheLast() throws Exception {
    Path told = directory.resolve("told");
    try (Fd shared = Fd.own(SYS, SYS.eventfd(0, 0), "eventfd")) {
      List<String> command = TestProcess.javaCommand(BorrowTwice.class, told.toString());
      try (PidFd child =
          Spawn.command(command)
              .standard(0, shared.number())
              .standard(1, shared.number())
              .start(SYS)) {
        assertThat(child.awaitExit().shellCode()).isZero();
      }
      assertThat(Files.readString(told)).isEqualTo("open true, one left true, closed false");
    }
  }

  // r[verify loop.op.read-some]
  @Test
  void aTerminalIsReadAndWritten() throws Exception {
    assumeTrue(Files.isExecutable(Path.of("/usr/bin/script")), "no script(1) here");
    try (var child = TestProcess.start("script", "-qec", shell(Copy.class), "/dev/null")) {
      child.say("typed");
      assertThat(child.line("copy:").strip()).isEqualTo("typed");
      child.say("bye");
      assertThat(child.line("ended ").strip()).isEqualTo("unchanged");
      assertThat(child.exitCode()).isZero();
    }
  }

  // r[verify loop.op.write-some]
  @Test
  void standardErrorIsWritten() throws Exception {
    try (EventLoop loop = EventLoop.open();
        StandardStream err = StandardStream.err(loop)) {
      try (Arena arena = Arena.ofShared()) {
        assertThat(result(loop, err.writeAll(arena.allocate(0)))).isZero();
      }
    }
  }
}
