package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.call;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class DeathTest {
  private static void kill(String pid, int signal) throws Exception {
    Processes.kill(Sys.forAnyThread(), Integer.parseInt(pid), signal);
  }

  @Test
  void aCallThatMustNotBeDoneTwiceFailsWithItsWorker() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool = open(options(0).workers(1).spares(1).listener(told))) {
      String pid = call(pool, "pid", "");
      CompletableFuture<byte[]> call =
          pool.submit(
              "sleep", bytes("60000"), CallOptions.DEFAULT.withDelivery(Delivery.AT_MOST_ONCE));
      await().until(() -> Pools.inFlight(pool) == 1);
      kill(pid, Signo.KILL);
      assertThat(call)
          .failsWithin(LONG)
          .withThrowableOfType(ExecutionException.class)
          .withCauseInstanceOf(WorkerDied.class)
          .withMessageContaining(" died while it had a call to 'sleep': killed by SIGKILL");
      assertThat(call(pool, "pid", "")).isNotEqualTo(pid);
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().exitCode()).isEqualTo(137);
      assertThat(told.deaths.getFirst().pid()).isEqualTo(Integer.parseInt(pid));
    }
  }

  /** It was made on the pool's thread, and its stack trace showed nothing but the pool. */
  @Test
  void theReasonShowsWhereTheCallWasMade() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).attempts(1))) {
      call(pool, "upper", "once, so that it has served");
      assertThatExceptionOfType(DeadLetter.class)
          .isThrownBy(() -> call(pool, "crash", "poison"))
          .satisfies(
              letter ->
                  assertThat(letter.getStackTrace())
                      .extracting(StackTraceElement::getClassName)
                      .contains(DeathTest.class.getName()));
    }
  }

  @Test
  void aCallThatMayBeDoneTwiceIsDoneByAnother() throws Exception {
    try (WorkerPool pool = open(options(0).workers(1).spares(1))) {
      String pid = call(pool, "pid", "");
      CompletableFuture<byte[]> call = pool.submit("sleep", bytes("1000"), CallOptions.DEFAULT);
      await().until(() -> Pools.inFlight(pool) == 1);
      kill(pid, Signo.KILL);
      assertThat(new String(call.get(), UTF_8)).isEqualTo("slept");
      assertThat(pool.status().deaths()).isEqualTo(1);
    }
  }

  @Test
  void aCallThatKillsEveryWorkerIsADeadLetter() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool =
        open(options(0).workers(1).spares(1).attempts(2).crashLimit(9).listener(told))) {
      call(pool, "upper", "once, so that it has served");
      assertThatExceptionOfType(DeadLetter.class)
          .isThrownBy(() -> call(pool, "crash", "poison"))
          .withMessageContaining("a call to 'crash' was given to 2 workers, and each died")
          .satisfies(letter -> assertThat(letter.attempts()).isEqualTo(2))
          .satisfies(letter -> assertThat(letter.death().exitCode()).isEqualTo(137))
          .satisfies(
              letter -> assertThat(letter.death().errorTail()).contains("about to crash: poison"))
          .havingCause()
          .withMessageContaining("about to crash: poison");
      await().until(() -> told.letters.size() == 1);
      assertThat(call(pool, "upper", "others go on")).isEqualTo("OTHERS GO ON");
    }
  }

  @Test
  void workersThatCannotStartAreNotStartedForEver() throws Exception {
    var told = new Pools.Told();
    PoolOptions options =
        options(0)
            .workers(1)
            .spares(0)
            .crashLimit(3)
            .restartDelay(Duration.ofMillis(20), Duration.ofMillis(100))
            .environment("SAMPLE_DIES", "1")
            .listener(told);
    try (WorkerPool pool = WorkerPool.open(options)) {
      assertThat(pool.awaitReady(LONG)).isFalse();
      await().until(() -> told.circuits.equals(List.of(3)));
      assertThat(told.deaths)
          .hasSize(3)
          .allSatisfy(death -> assertThat(death.exitCode()).isEqualTo(9))
          .allSatisfy(death -> assertThat(death.errorTail()).isEqualTo("I cannot start"));
      assertThatExceptionOfType(CircuitOpen.class)
          .isThrownBy(() -> call(pool, "echo", ""))
          .withMessageContaining("3 workers in a row died")
          .withMessageContaining("until the pool is reset (as 'belfry run' does on USR2)")
          .withMessageEndingWith(": exit code 9 (before it was ready)")
          .satisfies(open -> assertThat(open.death()).isEqualTo(told.deaths.getLast()))
          .havingCause()
          .withMessage("I cannot start");
      assertThat(pool.status().circuitOpen()).isTrue();

      pool.reset();
      await().until(() -> told.circuits.size() == 2);
      assertThat(told.deaths).hasSize(6);
    }
  }

  /** Used to report only that it was killed, as if by someone else. */
  @Test
  void aProgramThatIsNoWorkerIsKilledAndTheReasonIsTold() throws Exception {
    var told = new Pools.Told();
    PoolOptions options =
        PoolOptions.of("/bin/sh", "-c", "exec sleep 3600")
            .workers(1)
            .spares(0)
            .crashLimit(1)
            .readyLimit(Duration.ofMillis(500))
            .listener(told);
    try (WorkerPool _ = WorkerPool.open(options)) {
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.deaths.getFirst().how())
          .isEqualTo("killed by SIGKILL (not ready within 500 ms)");
    }
  }

  @Test
  void aProgramThatIsNotThereIsACrashLoopToo() throws Exception {
    var told = new Pools.Told();
    PoolOptions options =
        PoolOptions.of("/nowhere/at/all")
            .workers(1)
            .spares(0)
            .crashLimit(2)
            .restartDelay(Duration.ofMillis(10), Duration.ofMillis(10))
            .listener(told);
    try (WorkerPool _ = WorkerPool.open(options)) {
      await().until(() -> told.circuits.size() == 1);
      assertThat(told.deaths)
          .allSatisfy(
              death ->
                  assertThat(death.how())
                      .startsWith("cannot be started: posix_spawn")
                      .endsWith("ENOENT (No such file or directory)"));
    }
  }

  @Test
  void killsFromOutsideOfWorkersThatServeNeverOpenTheCircuit() throws Exception {
    var told = new Pools.Told();
    try (WorkerPool pool = open(options(0).workers(1).spares(1).crashLimit(2).listener(told))) {
      for (int i = 0; i < 4; i++) {
        kill(call(pool, "pid", ""), Signo.KILL);
        int deaths = i + 1;
        await().until(() -> told.deaths.size() == deaths);
      }
      assertThat(told.circuits).isEmpty();
      assertThat(call(pool, "upper", "still there")).isEqualTo("STILL THERE");
    }
  }

  @Test
  void aJvmThatCrashesTellsWhere(@TempDir Path directory) throws Exception {
    var told = new Pools.Told();
    PoolOptions options = options(0, directory).workers(1).spares(0).listener(told);
    try (WorkerPool pool = open(options)) {
      String pid = call(pool, "pid", "");
      kill(pid, Signo.SEGV);
      await().until(() -> told.deaths.size() == 1);
      Death death = told.deaths.getFirst();
      assertThat(death.exitCode()).isEqualTo(134);
      assertThat(Path.of(death.crashFile())).exists().hasParent(directory);
      assertThat(Files.readString(Path.of(death.crashFile()))).contains("SIGSEGV");
    }
  }

  /** By default the JVM reports it on its standard output, and exits with 3. */
  @Test
  void aJvmThatHasNoMemoryLeftSaysWhyItDied() throws Exception {
    JavaWorker small = JavaWorker.of(SampleWorker.class, "-Xmx32m").withArguments(List.of("0"));
    try (WorkerPool pool = open(PoolOptions.of(small).workers(1).spares(0).attempts(1))) {
      assertThatExceptionOfType(DeadLetter.class)
          .isThrownBy(() -> call(pool, "bytes", "60000000"))
          .satisfies(letter -> assertThat(letter.death().exitCode()).isEqualTo(3))
          .satisfies(letter -> assertThat(letter.death().errorTail()).contains("OutOfMemoryError"));
    }
  }
}
