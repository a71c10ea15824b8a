package dev.belfry.cli;

import static java.nio.file.StandardOpenOption.CREATE;
import static java.nio.file.StandardOpenOption.WRITE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StandardOutputTest {
  private final StringBuilder written = new StringBuilder();
  private final StringWriter err = new StringWriter();
  private int polls;

  @Test
  void writesEverythingAndKeepsTheExitCode() {
    StandardOutput out = outputAnswering(2L, 1L); // then all the rest

    out.writer().println("eleven");

    assertThat(written).hasToString("eleven\n");
    assertThat(out.finish(7, new PrintWriter(err))).isEqualTo(7);
  }

  @Test
  void writeThatFailsOnlyOnceGoesOn() {
    StandardOutput out = outputAnswering((long) -Errno.EINTR);

    out.writer().println("on");

    assertThat(written).hasToString("on\n");
  }

  /** A file's channel closes if its thread is interrupted, and standard output with it. */
  @Test
  void interruptedThreadCanStillWrite(@TempDir Path directory) throws IOException {
    Path file = directory.resolve("out");
    try (FileChannel channel = FileChannel.open(file, CREATE, WRITE)) {
      var out = new StandardOutput(channel, StandardOutputTest::noSystemCalls);
      Thread.currentThread().interrupt();

      out.writer().println("still here");

      assertThat(Thread.interrupted()).isTrue();
      assertThat(file).hasContent("still here");
    }
  }

  @Test
  void waitsForRoomInANonBlockingPipe() {
    StandardOutput out = outputAnswering((long) -Errno.EAGAIN);

    out.writer().println("room");

    assertThat(written).hasToString("room\n");
    assertThat(polls).isEqualTo(1);
  }

  @Test
  void readerWhoHasGoneIsNothingToTalkAbout() {
    StandardOutput out = outputAnswering((long) -Errno.EPIPE);

    out.writer().println("lost");
    out.writer().println("not even tried");

    assertThat(written).isEmpty();
    assertThat(out.finish(0, new PrintWriter(err))).isEqualTo(141);
    assertThat(err.toString()).isEmpty();
  }

  @Test
  void fullDiskIsReported() {
    StandardOutput out = outputAnswering((long) -Errno.ENOSPC);

    out.writer().println("lost");

    assertThat(out.finish(0, new PrintWriter(err))).isEqualTo(1);
    assertThat(err.toString()).startsWith("belfry: write(standard output): ENOSPC (");
  }

  private static Sys noSystemCalls() {
    throw new AssertionError("nothing has failed");
  }

  /** Answers each write with a number of bytes or an error; after that, all is written. */
  private StandardOutput outputAnswering(Long... answers) {
    Queue<Long> next = new ArrayDeque<>(List.of(answers));
    return new StandardOutput(new FakeChannel(next), () -> sysAnswering(next));
  }

  /** The same descriptor as Java sees it, without the error number. */
  private final class FakeChannel implements WritableByteChannel {
    private final Queue<Long> answers;

    FakeChannel(Queue<Long> answers) {
      this.answers = answers;
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
      Long answer = answers.peek();
      if (answer != null && answer < 0 && answer != -Errno.EAGAIN) {
        throw new IOException("something is wrong");
      }
      answers.poll();
      if (answer != null && answer == -Errno.EAGAIN) {
        return 0;
      }
      int count = answer == null ? bytes.remaining() : (int) (long) answer;
      for (int i = 0; i < count; i++) {
        written.append((char) bytes.get());
      }
      return count;
    }

    @Override
    public boolean isOpen() {
      return true;
    }

    @Override
    public void close() {}
  }

  private Sys sysAnswering(Queue<Long> answers) {
    return (Sys)
        Proxy.newProxyInstance(
            Sys.class.getClassLoader(),
            new Class<?>[] {Sys.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "write" -> write((MemorySegment) arguments[1], (long) arguments[2], answers);
                  case "ppoll" -> ++polls;
                  default -> throw new AssertionError(method);
                });
  }

  private long write(MemorySegment buffer, long length, Queue<Long> answers) {
    Long answer = answers.poll();
    long result = answer == null ? length : answer;
    if (result > 0) {
      byte[] bytes = buffer.asSlice(0, result).toArray(ValueLayout.JAVA_BYTE);
      written.append(new String(bytes, StandardCharsets.UTF_8));
    }
    return result;
  }
}
