package dev.belfry.cli.top;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.counters.CountersSample;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.workers.Latency;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What the page shows for made-up samples. */
class HostPageTest {
  private static final Duration SECOND = Duration.ofSeconds(1);
  private static final Latency LATENCY = new Latency(4_210, 18_300, 1_210_000);

  private static HostEntry host(String name) {
    return new HostEntry(
        4711, name, null, null, Path.of("/c"), null, Instant.now().minusSeconds(3700));
  }

  private static WorkerStatus worker(String name, int pid, long finished) {
    return new WorkerStatus(name, pid, "ready", 3, finished, 90_000, LATENCY, 2, 255, 1);
  }

  private static PoolStatus pool(int workers, long finished, boolean circuitOpen) {
    List<WorkerStatus> all =
        IntStream.rangeClosed(1, workers)
            .mapToObj(i -> worker("demo-" + i, 5000 + i, finished))
            .toList();
    return pool(all, finished, circuitOpen);
  }

  private static PoolStatus pool(List<WorkerStatus> all, long finished, boolean circuitOpen) {
    return new PoolStatus(all, 5, 6, 7, circuitOpen, finished, 8, 9, 10, 1234.5, LATENCY, 12, 64);
  }

  private static CountersSample sample(int number, long nanos, PoolStatus pool) {
    return new CountersSample(number, 4711, Instant.EPOCH, nanos, SECOND, pool);
  }

  /** Returns two samples a second apart, an hour in the future, so that they never become stale. */
  private static History history(int workers) {
    long then = System.nanoTime() + Duration.ofHours(1).toNanos();
    var history = new History(sample(1, then - SECOND.toNanos(), pool(workers, 1000, false)));
    history.add(sample(2, then, pool(workers, 1500, false)));
    return history;
  }

  private static Look plain(int columns, int rows) {
    return new Look(columns, rows, false, false);
  }

  @Test
  void everythingThatIsKnownIsShown() {
    List<String> lines = new HostPage(host("demo"), plain(110, 24), history(2)).still();

    assertThat(lines.getFirst())
        .startsWith(" demo  pid 4711  up 1h01m")
        .contains("sampled 0.0 s ago");
    assertThat(lines)
        .anySatisfy(it -> assertThat(it).contains("calls/s   1,235", "most 1,235 in 2s"))
        .anySatisfy(it -> assertThat(it).contains("p50 4.21 µs   p99 18.3 µs   max 1.21 ms"))
        .anySatisfy(
            it ->
                assertThat(it).contains("1,500 answered   8 failed   9 repeated   10 dead letters"))
        .anySatisfy(it -> assertThat(it).contains("6 deaths   5 waiting   circuit closed"))
        .anySatisfy(it -> assertThat(it).contains("12 of 64   rings", "4 of 510"));
    assertThat(lines.getLast())
        .matches(" demo-2 +5002 +ready +500 +1,500 +3 +4.21 µs +18.3 µs +1.21 ms +2/255 +1 +1m30s");
  }

  @Test
  void theScreenIsFilledAndNeverMore() {
    for (int workers : new int[] {0, 1, 3, 100}) {
      History history = history(workers);
      for (int columns : new int[] {1, 20, 60, 79, 80, 99, 100, 110, 200, 1001}) {
        for (int rows : new int[] {1, 2, 5, 10, 17, 18, 24, 50, 120}) {
          assertThat(new HostPage(host("demo"), plain(columns, rows), history).live())
              .as("%d workers in %dx%d", workers, columns, rows)
              .hasSize(rows)
              .allSatisfy(line -> assertThat(line.length()).isLessThanOrEqualTo(columns));
        }
      }
    }
  }

  /** Regression: after a hundred starts, all names looked alike in a terminal of the usual size. */
  @Test
  void workersKeepTheirWholeNamesAndColumnsForWhichThereIsNoRoomAreLeftOut() {
    List<WorkerStatus> workers =
        List.of(worker("worker-100", 54_321, 7), worker("worker-101", 54_322, 7));
    var history = new History(sample(1, System.nanoTime(), pool(workers, 7, false)));

    assertThat(new HostPage(host("demo"), plain(80, 24), history).still())
        .anySatisfy(it -> assertThat(it).matches(" WORKER +PID .* RING +DEATHS +AGE"))
        .anySatisfy(it -> assertThat(it).matches(" worker-100 54321 ready .* 2/255 +1 +1m30s"));
    assertThat(new HostPage(host("demo"), plain(60, 24), history).still())
        .anySatisfy(it -> assertThat(it).matches(" WORKER +PID STATE +CALLS/S BUSY +P50 +P99"))
        .anySatisfy(it -> assertThat(it).startsWith(" worker-100 ").endsWith(" 18.3 µs"))
        .anySatisfy(it -> assertThat(it).startsWith(" worker-101 "));
    assertThat(new HostPage(host("demo"), plain(8, 24), history).still()).contains(" worker-");
  }

  @Test
  void workersForWhomThereIsNoRoomAreCounted() {
    List<String> lines = new HostPage(host("demo"), plain(80, 24), history(100)).live();

    assertThat(lines.get(21)).startsWith(" demo-");
    assertThat(lines.get(22)).matches(" and \\d+ more");
    long shown = lines.stream().filter(line -> line.startsWith(" demo-")).count();
    assertThat(lines.get(22)).isEqualTo(" and " + (100 - shown) + " more");
    assertThat(new HostPage(host("demo"), plain(80, 24), history(100)).still())
        .filteredOn(line -> line.startsWith(" demo-"))
        .hasSize(100);
  }

  @Test
  void whatIsWrongStandsOut() {
    var stale = new History(sample(1, System.nanoTime() - 12 * SECOND.toNanos(), pool(1, 0, true)));
    var colours = new Look(80, 24, true, false);

    String text = String.join("\n", new HostPage(host("demo"), colours, stale).live());

    assertThat(text)
        .contains("\033[1;97;41m STALE for 12s: the host hangs or is stopped \033[0m")
        .contains("\033[1;97;41m CIRCUIT OPEN after 7 deaths in a row \033[0m");
  }

  /** Regression: the page said neither why the circuit was open nor what to do. */
  @Test
  void anOpenCircuitSaysHowItIsClosed() {
    var history = new History(sample(1, System.nanoTime(), pool(1, 0, true)));
    String hint = "           to start workers again: belfry signal 4711 USR2";
    for (int columns : new int[] {60, 100}) {
      assertThat(new HostPage(host("demo"), plain(columns, 24), history).still()).contains(hint);
      assertThat(new HostPage(host("demo"), plain(columns, 24), history).live())
          .hasSize(24)
          .contains(hint);
    }
    assertThat(new HostPage(host("demo"), plain(100, 24), history(1)).still())
        .noneMatch(line -> line.contains("USR2"));
  }

  @Test
  void withoutColoursThereIsNothingButText() {
    String text = String.join("\n", new HostPage(host("demo"), plain(80, 50), history(3)).live());
    assertThat(text.chars().filter(c -> c != '\n')).noneMatch(Character::isISOControl);

    var ascii = new Look(80, 50, false, true);
    assertThat(String.join("\n", new HostPage(host("demo"), ascii, history(3)).live()))
        .matches("[\\x20-\\x7e\\n]*")
        .contains("us");
  }

  @Test
  void aNameCannotGiveOrdersToTheTerminal() {
    String text =
        String.join("\n", new HostPage(host("a\033[2Jb"), plain(80, 24), history(1)).live());
    assertThat(text).contains(" a?[2Jb ").doesNotContain("\033");
    // CSI as one character, for terminals that know it.
    String one =
        String.join("\n", new HostPage(host("a\u009b2Jb"), plain(80, 24), history(1)).live());
    assertThat(one).contains(" a?2Jb ").doesNotContain("\u009b");
  }
}
