package dev.belfry.workers;

import static dev.belfry.workers.Pools.bytes;
import static dev.belfry.workers.Pools.open;
import static dev.belfry.workers.Pools.options;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Workers are killed at random under load, and every call is accounted for. */
@Timeout(1200)
final class CrashTest {
  private static final int KILLS = Boolean.getBoolean("belfry.stress") ? 1000 : 20;
  private static final int[] SIGNALS = {Signo.KILL, Signo.KILL, Signo.SEGV, Signo.STOP};
  private static final int[] SIZES = {64, 1000, 70_000, 1 << 20, 4 << 20};

  @TempDir private Path directory;

  private final AtomicInteger lastCall = new AtomicInteger();
  private final Set<String> done = ConcurrentHashMap.newKeySet();
  private final AtomicInteger died = new AtomicInteger();
  private volatile boolean enough;

  @Test
  void everyCallEndsOnceWhateverDies() throws Exception {
    try (WorkerPool warm = open(options(0).workers(1).spares(0))) {
      warm.call("echo", bytes("loads classes and opens what stays open"));
    }
    Descriptors before = Descriptors.now();
    long children = ProcessHandle.current().children().count();
    int deaths;
    try (WorkerPool pool =
            open(
                options(0, directory)
                    .workers(2)
                    .spares(2)
                    .attempts(20)
                    .crashLimit(1000)
                    .heartbeat(Duration.ofSeconds(1)));
        var callers = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> loads =
          IntStream.range(0, 8)
              .<Future<?>>mapToObj(i -> callers.submit(() -> load(pool, i)))
              .toList();
      try {
        kill(pool, KILLS / 2);
        Usage half = Usage.now();
        kill(pool, KILLS - KILLS / 2);
        await().atMost(Pools.LONG).untilAsserted(() -> assertFlat(half, Usage.now()));
      } finally {
        enough = true; // or the callers would never stop
      }
      for (Future<?> load : loads) {
        load.get();
      }
      deaths = (int) pool.status().deaths();
      assertThat(pool.status().workers())
          .allSatisfy(worker -> assertThat(worker.inFlight()).isZero());
    }
    List<String> executed = Files.readAllLines(directory.resolve("notes"), UTF_8);
    System.out.printf(
        "%d calls, %d deaths: %d failed with their worker, %d notes%n",
        lastCall.get(), deaths, died.get(), executed.size());
    assertThat(executed).as("what must not be done twice").doesNotHaveDuplicates();
    assertThat(new HashSet<>(executed)).as("what was answered was done").containsAll(done);
    assertThat(deaths).isPositive();
    assertThat(ProcessHandle.current().children().count()).isEqualTo(children);
    assertThat(before.openedSince()).isEmpty();
  }

  private Void load(WorkerPool pool, int seed) throws Exception {
    var random = new Random(seed);
    CallOptions patient = CallOptions.DEFAULT.withDeadline(Duration.ofSeconds(60));
    while (!enough) {
      int number = lastCall.incrementAndGet();
      if (random.nextBoolean()) {
        byte[] payload = new byte[SIZES[random.nextInt(SIZES.length)]];
        random.nextBytes(payload);
        byte[] answer = pool.call("echo", payload, patient);
        assertThat(Arrays.equals(answer, payload)).as("the answer of call %d", number).isTrue();
      } else {
        String note = "call-" + number;
        try {
          pool.call(
              "note",
              bytes(directory.resolve("notes") + " " + note),
              patient.withDelivery(Delivery.AT_MOST_ONCE));
          done.add(note);
        } catch (WorkerDied e) {
          died.incrementAndGet();
        }
      }
    }
    return null;
  }

  /** The host's resources while workers die. */
  private record Usage(long heapMebibytes, long residentMebibytes, int descriptors) {
    static Usage now() throws IOException {
      System.gc(); // what is left is reachable
      String status = Files.readString(Path.of("/proc/self/status"));
      long resident = Long.parseLong(status.replaceFirst("(?s).*VmRSS:\\s+(\\d+) kB.*", "$1"));
      Runtime runtime = Runtime.getRuntime();
      return new Usage(
          (runtime.totalMemory() - runtime.freeMemory()) >> 20,
          resident >> 10,
          Descriptors.now().count());
    }
  }

  /**
   * A leaked worker would hold three descriptors and, with its table, rings and histograms, more
   * than a hundred kilobytes. Some variation is normal: payloads of 4 MiB in transit, workers about
   * to start or end, and a collector that returns unused memory when it likes.
   */
  private static void assertFlat(Usage half, Usage whole) {
    System.out.printf("half way: %s, at the end: %s%n", half, whole);
    assertThat(whole.descriptors).isLessThan(half.descriptors + 40);
    assertThat(whole.heapMebibytes).isLessThan(half.heapMebibytes + 100);
    if (Boolean.getBoolean("belfry.stress")) { // in a shorter run the heap itself still grows
      assertThat(whole.residentMebibytes).isLessThan(half.residentMebibytes * 3 / 2);
    }
  }

  private static void kill(WorkerPool pool, int kills) throws Exception {
    var random = new Random(kills);
    for (int i = 0; i < kills; i++) {
      Thread.sleep(random.nextInt(20, 250));
      // No pool can keep up with kills that come faster than workers can start, however slow the
      // machine.
      assertThat(pool.awaitReady(Pools.LONG)).isTrue();
      var workers = pool.status().workers();
      if (!workers.isEmpty()) {
        int pid = workers.get(random.nextInt(workers.size())).pid();
        int signal = SIGNALS[random.nextInt(SIGNALS.length)];
        try {
          if (pid > 0) {
            Processes.kill(Sys.forAnyThread(), pid, signal);
          }
        } catch (ErrnoException e) {
          // It has just ended.
        }
      }
    }
  }
}
