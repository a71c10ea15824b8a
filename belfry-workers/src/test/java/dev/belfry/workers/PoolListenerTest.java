package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a listener is told (by default it logs), and what it may do. */
@Timeout(120)
final class PoolListenerTest extends QuickWorkers {
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
  void theLogNamesNoProcessWhereThereNeverWasOne() {
    new PoolListener() {}.onDeath(new Death("worker-1", 0, -1, "cannot be started", "", null));

    assertThat(records.texts).containsExactly("worker-1 died: cannot be started");
  }

  @Test
  void theLogTellsWhatTheCrashHasLeft() {
    new PoolListener() {}.onDeath(death("/tmp/hs_err_pid4711.log"));

    assertThat(records.texts)
        .containsExactly(
            "worker-1 (process 4711) died: killed by SIGSEGV; it left /tmp/hs_err_pid4711.log");
  }

  @Test
  void whatAListenerDoesWrongIsNoMatterOfThePool() throws Exception {
    var failing =
        new PoolListener() {
          @Override
          public void onReady(String name, int pid) {
            throw new AssertionError("on ready");
          }

          @Override
          public void onDeath(Death death) {
            throw new AssertionError("on death");
          }
        };
    try (WorkerPool pool = open(options().listener(failing))) {
      int first = pid(pool);
      Pools.kill(first, Signo.KILL);
      assertThat(pid(pool)).isNotEqualTo(first);
    }
  }

  @Test
  void aListenerCannotCloseThePool() throws Exception {
    assertThat(whatAListenerGets(WorkerPool::close)).isInstanceOf(IllegalStateException.class);
  }

  /** It used to wait for workers that could not start meanwhile, and held up everyone else. */
  @Test
  void aListenerCannotCallWorkers() throws Exception {
    CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofMillis(100));
    assertThat(whatAListenerGets(pool -> pool.call("upper", bytes("warm up"), brief)))
        .isInstanceOf(IllegalStateException.class);
  }

  /** What a listener does with a pool as soon as it hears of a worker. */
  private interface Deed {
    void doWith(WorkerPool pool) throws Exception;
  }

  private Throwable whatAListenerGets(Deed deed) throws Exception {
    var pool = new CompletableFuture<WorkerPool>();
    var refusal = new CompletableFuture<Throwable>();
    var listener =
        new PoolListener() {
          @Override
          public void onReady(String name, int pid) {
            try {
              deed.doWith(pool.join());
            } catch (Exception e) {
              refusal.complete(e);
            }
          }
        };
    try (WorkerPool opened = WorkerPool.open(options().listener(listener))) {
      pool.complete(opened);
      Throwable gets = refusal.get();
      assertThat(call(opened, "upper", "still open")).isEqualTo("STILL OPEN");
      return gets;
    }
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
