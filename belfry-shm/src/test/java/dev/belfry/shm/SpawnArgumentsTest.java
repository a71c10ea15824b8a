package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Pipe;
import dev.belfry.linux.Sys;
import dev.belfry.shm.TicketException.Reason;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SpawnArgumentsTest {
  // r[verify shm.spawn.args]
  @Test
  void whatIsToldIsUnderstood() throws Exception {
    var ticket = new SpawnArguments(Path.of("/dev/shm/a = b"), 255, 3);
    String[] arguments = ticket.toArguments().toArray(String[]::new);
    assertThat(arguments)
        .containsExactly("--hub-path=/dev/shm/a = b", "--peer-id=255", "--doorbell-fd=3");
    assertThat(SpawnArguments.parse(arguments)).isEqualTo(ticket);
  }

  @Test
  void otherArgumentsAreNoneOfItsBusiness() throws Exception {
    assertThat(
            SpawnArguments.parse(
                "-v", "--hub-path=a", "file", "--doorbell-fd=4", "--peer=9", "--peer-id=1"))
        .isEqualTo(new SpawnArguments(Path.of("a"), 1, 4));
  }

  @ParameterizedTest
  @CsvSource({
    "--peer-id=1 --doorbell-fd=3, MISSING_HUB_PATH",
    "--hub-path= --peer-id=1 --doorbell-fd=3, MISSING_HUB_PATH",
    "--hub-path=a --doorbell-fd=3, MISSING_PEER_ID",
    "--hub-path=a --peer-id=0 --doorbell-fd=3, INVALID_PEER_ID",
    "--hub-path=a --peer-id=256 --doorbell-fd=3, INVALID_PEER_ID",
    "--hub-path=a --peer-id=-1 --doorbell-fd=3, INVALID_PEER_ID",
    "--hub-path=a --peer-id=x --doorbell-fd=3, INVALID_PEER_ID",
    "--hub-path=a --peer-id=1, MISSING_DOORBELL",
    "--hub-path=a --peer-id=1 --doorbell-fd=-1, INVALID_DOORBELL",
    "--hub-path=a --peer-id=1 --doorbell-fd=99999999999, INVALID_DOORBELL",
  })
  void eachDefectHasItsOwnReason(String line, Reason reason) {
    assertThatThrownBy(() -> SpawnArguments.parse(line.split(" ", -1)))
        .isInstanceOf(TicketException.class)
        .satisfies(e -> assertThat(((TicketException) e).reason()).isEqualTo(reason));
  }

  @Test
  void aDescriptorIsLeftAloneWhenTheRestIsWrong() throws Exception {
    Sys sys = Sys.forAnyThread();
    Pipe pipe = Pipe.open(sys, false);
    assertThatThrownBy(
            () -> SpawnArguments.parse("--peer-id=1", "--doorbell-fd=" + pipe.reader().number()))
        .isInstanceOf(TicketException.class);
    pipe.reader().close(); // throws if it is closed already
    pipe.writer().close();
  }
}
