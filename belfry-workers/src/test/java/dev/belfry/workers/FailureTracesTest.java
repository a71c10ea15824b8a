package dev.belfry.workers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

final class FailureTracesTest {
  private final ByteArrayOutputStream written = new ByteArrayOutputStream();
  private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 5);
  private final FailureTraces traces =
      new FailureTraces(new PrintStream(written, true, UTF_8), now::get);

  private String text() {
    return written.toString(UTF_8);
  }

  @Test
  void aFailureIsShownWithTheMethodAndWhereItWas() {
    traces.show("resize", new IllegalStateException("no picture"));
    assertThat(text())
        .startsWith("a call to 'resize' has failed:\njava.lang.IllegalStateException: no picture\n")
        .contains("\tat dev.belfry.workers.FailureTracesTest.aFailureIsShown");
  }

  @Test
  void aFloodIsCountedAndNotShown() {
    for (int i = 0; i < 100; i++) {
      traces.show("resize", new IllegalStateException("no " + i));
    }
    assertThat(text())
        .contains("no 9\n")
        .doesNotContain("no 10\n")
        .endsWith("more calls that fail within this minute are not shown\n");
    now.addAndGet(Duration.ofMinutes(1).toNanos());
    traces.show("resize", new IllegalStateException("another minute"));
    assertThat(text())
        .contains("90 more calls have failed\na call to 'resize' has failed:\n")
        .contains("another minute");
  }

  @Test
  void aTraceWithoutEndIsCut() {
    var deep = new IllegalStateException("deep");
    var frame = new StackTraceElement("a.Class", "method", "Class.java", 1);
    deep.setStackTrace(Collections.nCopies(1000, frame).toArray(StackTraceElement[]::new));
    traces.show("resize", deep);
    assertThat(text()).hasLineCount(102).endsWith("\t... 901 more lines\n");
  }

  /** Its class is user code, and may itself throw. */
  @Test
  void anExceptionThatCannotBePrintedDoesNoHarm() {
    traces.show(
        "resize",
        new RuntimeException() {
          @Override
          public String getMessage() {
            throw new IllegalStateException("not even that");
          }
        });
    assertThat(text())
        .startsWith("a call to 'resize' has failed:\n")
        .contains("FailureTracesTest$");
  }
}
