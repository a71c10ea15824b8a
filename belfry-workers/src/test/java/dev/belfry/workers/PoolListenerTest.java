package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class PoolListenerTest {
  private final Logger logger = Logger.getLogger(PoolListener.class.getName());
  private final Records records = new Records();

  @BeforeEach
  void listen() {
    logger.addHandler(records);
  }

  @AfterEach
  void listenNoMore() {
    logger.removeHandler(records);
  }

  @Test
  void theLogTellsWhoDiedAndOfWhat() {
    new PoolListener() {}.onDeath(death(null));

    assertThat(records.texts).containsExactly("worker-1 (process 4711) died: killed by SIGSEGV");
  }

  @Test
  void theLogTellsWhereTheJvmHasWrittenDownItsCrash() {
    new PoolListener() {}.onDeath(death("/tmp/hs_err_pid4711.log"));

    assertThat(records.texts)
        .containsExactly(
            "worker-1 (process 4711) died: killed by SIGSEGV;"
                + " its JVM has written /tmp/hs_err_pid4711.log");
  }

  private static Death death(@Nullable String crashFile) {
    return new Death("worker-1", 4711, 139, "killed by SIGSEGV", "", crashFile);
  }

  private static final class Records extends Handler {
    final List<String> texts = new ArrayList<>();

    @Override
    public void publish(LogRecord record) {
      texts.add(record.getMessage());
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }
}
