package dev.belfry.workers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Pools of {@link SampleWorker}s, and a listener that records events. */
final class Pools {
  static final Duration LONG = Duration.ofSeconds(60);

  private Pools() {}

  static PoolOptions options(int threads) {
    return options(threads, Path.of(System.getProperty("java.io.tmpdir")));
  }

  /** Workers that write their crash files to a directory. */
  static PoolOptions options(int threads, Path crashDirectory) {
    var command = new ArrayList<>(TestProcess.javaCommand(SampleWorker.class));
    command.add(1, "-XX:ErrorFile=" + crashDirectory.resolve("hs_err_pid%p.log"));
    command.add(Integer.toString(threads));
    return PoolOptions.of(command).name("sample");
  }

  static WorkerPool open(PoolOptions options) throws IOException, InterruptedException {
    WorkerPool pool = WorkerPool.open(options);
    assertThat(pool.awaitReady(LONG)).isTrue();
    return pool;
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  static String call(WorkerPool pool, String method, String text) throws Exception {
    return new String(pool.call(method, bytes(text)), UTF_8);
  }

  static int inFlight(WorkerPool pool) {
    return pool.status().workers().stream().mapToInt(PoolStatus.WorkerStatus::inFlight).sum();
  }

  /**
   * Stops a worker and waits until it has stopped: a running thread takes a moment to see the
   * signal.
   */
  static void stop(int pid) throws IOException {
    kill(pid, Signo.STOP);
    await().until(() -> stands(pid));
  }

  private static boolean stands(int pid) throws IOException {
    try (DirectoryStream<Path> tasks =
        Files.newDirectoryStream(Path.of("/proc/" + pid + "/task"))) {
      for (Path task : tasks) {
        if (state(task) != 'T') {
          return false;
        }
      }
      return true;
    }
  }

  static void kill(int pid, int signal) throws IOException {
    Processes.kill(Sys.forAnyThread(), pid, signal);
  }

  /** The state letter of a process or thread, by its directory below {@code /proc}; see proc(5). */
  static char state(Path directory) throws IOException {
    String stat = Files.readString(directory.resolve("stat"));
    return stat.charAt(stat.lastIndexOf(')') + 2);
  }

  /** Records what it is told. */
  static final class Told implements PoolListener {
    final List<Death> deaths = new CopyOnWriteArrayList<>();
    final List<String> output = new CopyOnWriteArrayList<>();
    final List<DeadLetter> letters = new CopyOnWriteArrayList<>();
    final List<Integer> circuits = new CopyOnWriteArrayList<>();

    @Override
    public void onDeath(Death death) {
      deaths.add(death);
    }

    @Override
    public void onOutput(String worker, String line) {
      output.add(worker + ": " + line);
    }

    @Override
    public void onDeadLetter(DeadLetter letter) {
      letters.add(letter);
    }

    @Override
    public void onCircuitOpen(int deaths) {
      circuits.add(deaths);
    }
  }
}
