package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;

class StandardOutputTest {
  private final StringBuilder written = new StringBuilder();
  private final StringWriter err = new StringWriter();
  private int polls;

  @Test
  void writesEverythingAndKeepsTheExitCode() {
    StandardOutput out = outputAnswering(2L, 1L); // then all there is

    out.writer().println("eleven");

    assertThat(written).hasToString("eleven\n");
    assertThat(out.finish(7, new PrintWriter(err))).isEqualTo(7);
  }

  @Test
  void interruptedWriteGoesOn() {
    StandardOutput out = outputAnswering((long) -Errno.EINTR);

    out.writer().println("on");

    assertThat(written).hasToString("on\n");
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

  private StandardOutput outputAnswering(Long... answers) {
    Queue<Long> next = new ArrayDeque<>(List.of(answers));
    return new StandardOutput(
        (Sys)
            Proxy.newProxyInstance(
                Sys.class.getClassLoader(),
                new Class<?>[] {Sys.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "write" ->
                          write((MemorySegment) arguments[1], (long) arguments[2], next);
                      case "ppoll" -> ++polls;
                      default -> throw new AssertionError(method);
                    }));
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
