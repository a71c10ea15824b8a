package dev.belfry.cli.log;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.config.LoggingConfig;
import dev.belfry.cli.config.LoggingConfig.Format;
import dev.belfry.signals.SignalRecord;
import dev.belfry.testkit.TestProcess;
import java.lang.System.Logger.Level;
import java.util.Map;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The log of a service, as it appears on standard error. */
@Timeout(120)
final class ServiceLogTest {
  /** Regression: the log did not show where a cleanup had failed. */
  @ParameterizedTest
  @EnumSource
  void aRecordOfAFailureSaysWhereItWas(Format format) throws Exception {
    try (TestProcess service = TestProcess.java(Failing.class, format.name())) {
      assertThat(String.join("\n", service.rest()))
          .contains("a cleanup failed")
          .contains("IllegalStateException")
          .contains("no such table")
          .contains("ServiceLogTest");
    }
  }

  static final class Failing {
    public static void main(String[] arguments) {
      ServiceLog log = ServiceLog.open(new LoggingConfig(Format.valueOf(arguments[0]), Level.INFO));
      var thrown = new IllegalStateException("no such table");
      String message = "a cleanup failed";
      log.log(
          new SignalRecord(
              Level.ERROR, "signal.cleanup_failed", message, Map.of(), message, thrown));
    }
  }
}
