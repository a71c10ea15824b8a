package dev.belfry.cli.counters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.TestProcess;
import dev.belfry.workers.Latency;
import dev.belfry.workers.PoolStatus;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CountersTest {
  private static final Duration FAST = Duration.ofMillis(2);
  private static final Duration NEVER = Duration.ofDays(1);

  @TempDir private Path directory;
  private Path path;

  @BeforeEach
  void choosePath() {
    path = directory.resolve("counters");
  }

  @Test
  void whatIsWrittenIsRead() throws IOException {
    Instant before = Instant.now().minusMillis(1);
    try (var _ = CountersWriter.open(path, Statuses::different, NEVER);
        var reader = CountersReader.open(path)) {
      CountersSample sample = reader.read();

      PoolStatus written = Statuses.different();
      assertThat(sample.pool())
          .usingRecursiveComparison()
          .ignoringFields("workers")
          .isEqualTo(written);
      assertThat(sample.pool().workers().getFirst()).isEqualTo(written.workers().getFirst());
      assertThat(sample.pool().workers().get(1).name())
          .as("33 bytes, of which the last two are one character")
          .isEqualTo("a name of a worker that is long");
      assertThat(sample.number()).isEqualTo(1);
      assertThat(sample.pid()).isEqualTo(ProcessHandle.current().pid());
      assertThat(sample.startedAt()).isBetween(before, Instant.now());
      assertThat(sample.period()).isEqualTo(NEVER);
      assertThat(sample.age()).isBetween(Duration.ZERO, Duration.ofMinutes(1));
    }
  }

  @Test
  void aSampleThatIsLateIsStale() {
    long now = System.nanoTime();
    Duration second = Duration.ofSeconds(1);
    for (int age : new int[] {0, 2, 4}) {
      long then = now - Duration.ofSeconds(age).toNanos();
      var sample = new CountersSample(1, 1, Instant.EPOCH, then, second, Statuses.different());
      assertThat(sample.isStale()).as("after %d s", age).isEqualTo(age == 4);
    }
  }

  /** Regression: the error did not name the file, and the file was left behind. */
  @Test
  void noRoomIsSaidWithTheNameOfTheFile() throws Exception {
    List<String> host = TestProcess.javaCommand(CountingHost.class, path.toString());
    var command = new ArrayList<>(List.of("sh", "-c", "ulimit -f 0 && exec \"$@\"", "sh"));
    command.addAll(host);
    command.add(command.indexOf("-cp"), "-XX:-UsePerfData"); // a file of the JVM's own
    try (TestProcess full = TestProcess.start(command)) {
      assertThat(String.join("\n", full.rest())).contains("no room for the counters in " + path);
    }
    assertThat(path).doesNotExist();
  }

  @Test
  void anotherSampleComesAgainAndAgain() throws IOException {
    var turn = new AtomicInteger();
    try (var _ = CountersWriter.open(path, () -> Statuses.same(turn.incrementAndGet()), FAST);
        var reader = CountersReader.open(path)) {
      long first = reader.read().number();
      await().until(() -> reader.read().number() > first + 3);
    }
  }

  /** Regression: after a short lack of memory, the counters were stale forever. */
  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, StackOverflowError.class})
  void aHostThatCannotSayHowItGoesIsAskedAgain(Class<? extends Throwable> failure)
      throws IOException {
    var turn = new AtomicInteger();
    try (var _ =
            CountersWriter.open(
                path,
                () -> {
                  if (turn.incrementAndGet() == 2) {
                    fail(failure);
                  }
                  return Statuses.same(turn.get());
                },
                FAST);
        var reader = CountersReader.open(path)) {
      await().until(() -> reader.read().pool().finished() > 2);
    }
  }

  private static void fail(Class<? extends Throwable> how) {
    if (how == StackOverflowError.class) { // stands for all Errors
      throw new StackOverflowError("not now");
    }
    throw new IllegalStateException("not now");
  }

  @Test
  void aHostThatCannotBeginLeavesNoFile() {
    assertThatIllegalStateException()
        .isThrownBy(
            () ->
                CountersWriter.open(
                    path,
                    () -> {
                      throw new IllegalStateException("never");
                    }));
    assertThat(path).doesNotExist();
  }

  /** All numbers of a sample are the same, so a torn one would show. */
  private static void assertWhole(CountersSample sample) {
    int n = (int) sample.pool().finished();
    assertThat(sample.pool().equals(Statuses.same(n)))
        .as("whether all of number %d is %d", sample.number(), n)
        .isTrue();
  }

  @Test
  void aSampleIsNeverTorn() throws Exception {
    try (TestProcess host = TestProcess.java(CountingHost.class, path.toString())) {
      host.line("writing");
      try (var reader = CountersReader.open(path)) {
        long first = reader.read().number();
        for (int i = 0; i < 5_000; i++) {
          assertWhole(reader.read());
        }
        assertThat(reader.read().number()).isGreaterThan(first);
      }
    }
  }

  /** A reader that is still copying the last but one must see that it has changed. */
  @Test
  void aSampleIsMarkedBeforeItIsOverwritten() throws Exception {
    var asked = new AtomicInteger();
    try (var _ =
            CountersWriter.open(
                path,
                () -> asked.incrementAndGet() < 3 ? Statuses.same(7) : Statuses.unwritable(),
                Duration.ofMillis(50));
        var file = new RandomAccessFile(path.toFile(), "r")) {
      await().until(() -> asked.get() > 3);
      file.seek(CountersLayout.SAMPLES_OFFSET + CountersLayout.SAMPLE_BYTES); // 1, then 3
      assertThat(file.readLong()).isEqualTo(CountersLayout.BEING_WRITTEN);
    }
  }

  @Test
  void aHostThatWasKilledWhileItWroteLeavesAWholeSample() throws Exception {
    int kills = Boolean.getBoolean("belfry.stress") ? 50 : 3;
    for (int i = 0; i < kills; i++) {
      try (TestProcess host = TestProcess.java(CountingHost.class, path.toString())) {
        host.line("writing");
        try (var reader = CountersReader.open(path)) {
          await().until(() -> reader.read().number() > 100);
          host.kill();
          host.exitCode();
          assertWhole(reader.read());
        }
      }
      Files.delete(path);
    }
  }

  @Test
  void aSampleThatWasNeverFinishedIsNotRead() throws IOException {
    try (var _ = CountersWriter.open(path, () -> Statuses.same(7), NEVER);
        var file = new RandomAccessFile(path.toFile(), "rw");
        var reader = CountersReader.open(path)) {
      file.seek(CountersLayout.SAMPLES_OFFSET); // sample number 2, the next
      file.writeLong(-1);
      file.write(new byte[1000]);
      assertWhole(reader.read());
      assertThat(reader.read().number()).isEqualTo(1);

      file.seek(CountersLayout.SAMPLES_OFFSET + CountersLayout.SAMPLE_BYTES);
      file.writeLong(-1); // even without any sample, a reader does not wait forever
      assertThatIOException().isThrownBy(reader::read).withMessage(path + " has no whole sample");
    }
  }

  @Test
  void othersCanReadItButNotWriteAndItGoesWithTheHost() throws IOException {
    CountersWriter writer = CountersWriter.open(path, Statuses::different, NEVER);
    assertThat(Files.getPosixFilePermissions(path))
        .isEqualTo(PosixFilePermissions.fromString("rw-r--r--"));
    assertThatIOException().isThrownBy(() -> CountersWriter.open(path, Statuses::different));
    assertThat(path).as("of a writer that is still there").exists();
    try (var reader = CountersReader.open(path)) {
      writer.close();
      writer.close();
      assertThat(path).doesNotExist();
      assertThat(reader.read().pool().latency()).isEqualTo(new Latency(29, 30, 31));
    }
  }

  @Test
  void whatHoldsNoCountersIsRefused() throws IOException {
    assertThatIOException().isThrownBy(() -> CountersReader.open(path));
    Files.writeString(path, "short");
    assertThatIOException().isThrownBy(() -> CountersReader.open(path));
    Files.writeString(path, "long enough".repeat(100));
    assertThatIOException()
        .isThrownBy(() -> CountersReader.open(path))
        .withMessage(path + " holds no counters");
    assertThatIOException().isThrownBy(() -> CountersReader.open(directory));
  }

  @Test
  void aDescriptionThatMakesNoSenseIsRefused() throws IOException {
    Path copy = directory.resolve("copy");
    try (var _ = CountersWriter.open(path, Statuses::different, NEVER)) {
      List<Integer> words =
          List.of(
              CountersLayout.VERSION_AT,
              CountersLayout.FIELDS_AT,
              CountersLayout.HOST_BYTES_AT,
              CountersLayout.WORKER_BYTES_AT,
              CountersLayout.MAX_WORKERS_AT,
              CountersLayout.SAMPLES_OFFSET_AT,
              CountersLayout.SAMPLE_BYTES_AT,
              CountersLayout.HEADER_BYTES + CountersLayout.OFFSET_AT,
              CountersLayout.HEADER_BYTES + CountersLayout.TYPE_AT);
      for (int at : words) {
        for (int wrong : new int[] {-1, Integer.MAX_VALUE, 0x7f00_0000, 0x7fff_fff8}) {
          Files.deleteIfExists(copy);
          Files.copy(path, copy);
          try (var file = new RandomAccessFile(copy.toFile(), "rw")) {
            file.seek(at);
            file.writeInt(Integer.reverseBytes(wrong));
          }
          assertThatIOException()
              .as("%d at %d", wrong, at)
              .isThrownBy(() -> CountersReader.open(copy));
        }
      }
      assertThatIOException()
          .isThrownBy(
              () -> {
                try (var file = new RandomAccessFile(copy.toFile(), "rw")) {
                  file.seek(CountersLayout.VERSION_AT);
                  file.writeInt(Integer.reverseBytes(2));
                }
                CountersReader.open(copy);
              })
          .withMessage(copy + " has version 2 of the counters, and this program knows version 1");
    }
  }

  @Test
  void aProgramInCReadsItByTheDocumentAlone() throws Exception {
    Path counter = CProgram.compile(directory, CountersTest.class, "counter");
    try (var _ = CountersWriter.open(path, Statuses::different, NEVER)) {
      assertThat(said(counter, "finished")).containsExactly("24 calls");
      assertThat(said(counter, "calls_per_second")).containsExactly("28.5 calls/s");
      assertThat(said(counter, "circuit_open")).containsExactly("1");
      assertThat(said(counter, "worker_state")).containsExactly("ready", "spare");
      assertThat(said(counter, "worker_latency_p99")).containsExactly("7 ns", "0 ns");
    }
  }

  private List<String> said(Path program, String name) throws Exception {
    try (TestProcess process = TestProcess.start(program.toString(), path.toString(), name)) {
      List<String> lines = process.rest();
      assertThat(process.exitCode()).isZero();
      return lines;
    }
  }
}
