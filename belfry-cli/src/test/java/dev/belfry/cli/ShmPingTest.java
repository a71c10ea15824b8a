package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Message;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.WaitStrategy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A ping whose guest walks in, and answers correctly or not. */
@Timeout(120)
class ShmPingTest {
  @TempDir private Path directory = Path.of("");

  /** What a guest does to a message before it sends it back; null for the correct answer. */
  private interface Fault {
    byte[] bytes(Message message, int number);
  }

  private CommandRun ping(Fault fault, String... options) throws Exception {
    Path path = directory.resolve("hub");
    String[] line = new String[options.length + 4];
    line[0] = "shm";
    line[1] = "ping";
    line[2] = "--hub-path";
    line[3] = path.toString();
    System.arraycopy(options, 0, line, 4, options.length);
    CompletableFuture<CommandRun> run = CompletableFuture.supplyAsync(() -> CommandRun.of(line));
    while (!Files.exists(path) && !run.isDone()) {
      LockSupport.parkNanos(1_000_000);
    }
    if (Files.exists(path)) {
      answer(path, fault);
    }
    return run.get(60, TimeUnit.SECONDS);
  }

  private static void answer(Path path, Fault fault) throws Exception {
    try (ShmGuest guest = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE)) {
      var message = new Message();
      int number = 0;
      while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
        byte[] bytes = fault.bytes(message, number++);
        guest.sendBlocking(
            message.kind(),
            message.id(),
            message.methodId(),
            bytes,
            0,
            bytes.length,
            FutexWait.FOREVER);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"v1", "padded"})
  void aGuestThatWalksInIsTried(String placement) throws Exception {
    CommandRun run =
        ping((message, _) -> message.toByteArray(), "--placement", placement, "--count", "300");

    assertThat(run.err()).startsWith("waiting for a guest at");
    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).startsWith("300 messages came back").contains("p50");
    assertThat(directory.resolve("hub")).doesNotExist();
  }

  @Test
  void theFirstWrongByteIsDescribed() throws Exception {
    CommandRun run =
        ping(
            (message, number) -> {
              byte[] bytes = message.toByteArray();
              if (number == 5) {
                bytes[2]++;
              }
              return bytes;
            },
            "--sizes",
            "40",
            "--json");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("message 5 (", "byte 2 is");
  }

  @Test
  void aMissingByteIsDescribed() throws Exception {
    CommandRun run = ping((_, _) -> new byte[3], "--sizes", "4");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("message 0: sent REQUEST", "4 bytes, got REQUEST", "3 bytes");
  }

  @Test
  void figuresAreForProgramsToo() throws Exception {
    CommandRun run =
        ping((message, _) -> message.toByteArray(), "--count", "20", "--ring-size", "2", "--json");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out()).contains("\"messages\":20").contains("\"p50Nanos\":");
  }

  @Test
  void aCommandThatIsNoGuestIsReported() {
    CommandRun run = CommandRun.of("shm", "ping", "--", "sh", "-c", "exit 3", "ticket");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("the guest ended before it had attached: exit code 3");
  }

  @Test
  void whatMakesNoSenseIsRefused() {
    for (String[] wrong : new String[][] {{"--sizes", "4,-1"}, {"--count", "-5"}}) {
      CommandRun run = CommandRun.of("shm", "ping", wrong[0] + "=" + wrong[1], "--", "true");
      assertThat(run.exitCode()).isEqualTo(2);
      assertThat(run.err()).startsWith("belfry shm ping: " + wrong[0]);
    }
    assertThat(CommandRun.of("shm", "ping").err()).contains("Say which COMMAND to start");
    CommandRun run = CommandRun.of("shm", "ping", "--ring-size", "3", "--", "true");
    assertThat(run.exitCode()).isEqualTo(2);
    assertThat(run.err()).contains("ring_size must be power of 2");
    CommandRun half = CommandRun.of("shm", "echo", "--hub-path=/no", "--peer-id=1");
    assertThat(half.exitCode()).isEqualTo(2);
    assertThat(half.err()).contains("both --peer-id and --doorbell-fd");
  }
}
