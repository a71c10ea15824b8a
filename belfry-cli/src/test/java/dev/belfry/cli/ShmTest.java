package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Link;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Placement;
import dev.belfry.shm.Segment;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Inspects a segment with two messages and a channel under way. */
class ShmTest {
  @TempDir private Path directory;

  private Path used(Placement placement) throws IOException {
    Path path = directory.resolve("hub");
    Segment host = Segment.create(Sys.forAnyThread(), path, placement, SegmentConfig.DEFAULT);
    Segment guest = Segment.attach(Sys.forAnyThread(), path);
    Link toHost = Link.walkIn(guest, WaitStrategy.SLEEP);
    toHost.outbox().send(MessageKind.REQUEST, 1, 0, new byte[2000], 0, 2000);
    Objects.requireNonNull(toHost.channels().open()).send(new byte[10], 0, 10);
    host.peers().reserve();
    guest.close();
    Files.copy(path, directory.resolve("copy")); // as a killed host leaves it
    host.close();
    return directory.resolve("copy");
  }

  @ParameterizedTest
  @EnumSource
  void statShowsGuestsRingsAndSlots(Placement placement) throws IOException {
    CommandRun run = CommandRun.of("shm", "stat", used(placement).toString());

    assertThat(run.err()).isEmpty();
    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains(placement.name(), "host  16 of 16 slots free")
        .containsPattern("1 +ATTACHED +1 +2 +0 +15")
        .containsPattern("2 +RESERVED +1 +0 +0 +16");
  }

  @Test
  void statGivesTheSameToPrograms() throws IOException {
    CommandRun run = CommandRun.of("shm", "stat", used(Placement.V1).toString(), "--json");

    JsonNode json = JsonMapper.shared().readTree(run.out());
    assertThat(json.at("/placement").asString()).isEqualTo("V1");
    assertThat(json.at("/config/ringSize").asInt()).isEqualTo(256);
    assertThat(json.at("/peers/0/toHost/depth").asInt()).isEqualTo(2);
    assertThat(json.at("/peers/0/channels/0/grantedTotal").asInt()).isEqualTo(262144);
  }

  @Test
  void dumpShowsEverything() throws IOException {
    CommandRun run = CommandRun.of("shm", "dump", used(Placement.PADDED).toString());

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains("version             258", "ring_size           256", "host_goodbye        0")
        .contains("peer 1: ATTACHED, epoch 1", "guest->host  head 2, tail 0, depth 2")
        .contains("channel 1    ACTIVE, granted 262144");
  }

  @Test
  void whatIsNoSegmentIsRefused() throws IOException {
    Path file = Files.writeString(directory.resolve("text"), "hello".repeat(100));

    CommandRun run = CommandRun.of("shm", "stat", file.toString());

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("belfry shm: " + file).contains("not a segment");
  }
}
