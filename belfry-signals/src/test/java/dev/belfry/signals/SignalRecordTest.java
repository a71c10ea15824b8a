package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class SignalRecordTest {
  private static String text(String name, String value) {
    return new SignalRecord(Level.INFO, "event", "received", Map.of(name, value)).text();
  }

  @Test
  void aRecordIsOneLineWithItsFieldsInOrder() {
    var fields = new LinkedHashMap<String, String>();
    fields.put("signal", "SIGTERM");
    fields.put("reason", "new release");
    fields.put("empty", "");
    assertThat(new SignalRecord(Level.INFO, "event", "received", fields).text())
        .isEqualTo("received signal=SIGTERM reason=\"new release\" empty=\"\"");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a\nINFO forged", "a\r\nb", "a\u2028b", "a\u0085b", "a\u001b[31mb", "a\u202eb"})
  void whatComesFromOutsideCannotBeginANewLine(String value) {
    assertThat(text("reason", value).codePoints())
        .noneMatch(c -> Character.isISOControl(c) || c == 0x2028 || c == 0x202e);
  }

  /** The tabs of a worker's stack trace used to be escaped. */
  @Test
  void aTabIsATab() {
    assertThat(new SignalRecord(Level.INFO, "event", "\tat a.B.c", Map.of()).text())
        .isEqualTo("\tat a.B.c");
    assertThat(text("reason", "a\tb=c")).endsWith("reason=\"a\tb=c\"");
  }

  /** The log used to show what a failed handler threw, but not where. */
  @Test
  void theSystemLoggerIsGivenTheStackTrace() {
    var logged = new ArrayList<LogRecord>();
    var sink =
        new Handler() {
          @Override
          public void publish(LogRecord it) {
            logged.add(it);
          }

          @Override
          public void flush() {}

          @Override
          public void close() {}
        };
    var logger = Logger.getLogger("dev.belfry.signals");
    logger.addHandler(sink);
    try {
      var failure = new IOException("disk full");
      var failed = new SignalRecord(Level.ERROR, "event", "a {0} failed", Map.of());
      SignalLog.toSystemLogger().log(failed.withError(failure));
      SignalLog.toSystemLogger().log(failed);
      assertThat(logged).extracting(LogRecord::getThrown).containsExactly(failure, null);
      assertThat(logged).extracting(LogRecord::getMessage).containsOnly("a {0} failed");
    } finally {
      logger.removeHandler(sink);
    }
  }

  @Test
  void norCanItPassForAnotherField() {
    assertThat(text("reason", "x\" identity=\"root")).contains("\"x\\\" identity=\\\"root\"");
    assertThat(text("reason", "a=b")).endsWith("reason=\"a=b\"");
    assertThat(text("reason", "back\\slash")).endsWith("reason=\"back\\\\slash\"");
  }
}
