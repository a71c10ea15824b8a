package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** What a C guest refuses, and that it gives the reason. */
@Timeout(120)
final class CGuestRefusalTest {
  private static final SegmentConfig CONFIG = HostFixture.CONFIG;

  @TempDir private static Path programs;
  private static String echo;

  @TempDir private Path directory;

  @BeforeAll
  static void compile() throws Exception {
    echo = new CGuests(programs).echo().getFirst();
  }

  private static void assertRefused(String text, String... arguments) throws Exception {
    var command = new ArrayList<>(List.of(echo));
    command.addAll(List.of(arguments));
    try (TestProcess guest = TestProcess.start(command)) {
      assertThat(guest.line()).contains(text);
      assertThat(guest.exitCode()).isOne();
    }
  }

  // r[verify shm.spawn.args]
  @Test
  void ticketsThatMakeNoSense() throws Exception {
    Path path = directory.resolve("segment");
    try (Segment segment = Segment.create(Sys.forAnyThread(), path, Placement.PADDED, CONFIG)) {
      String hub = "--hub-path=" + path;
      assertRefused("--hub-path=PATH is missing", "--peer-id=1", "--doorbell-fd=0");
      assertRefused("--hub-path=PATH is missing", "--hub-path=");
      assertRefused("--peer-id=N is missing", hub, "--doorbell-fd=0");
      assertRefused("--doorbell-fd=N is missing", hub, "--peer-id=1");
      for (String id : List.of("0", "256", "-1", "1x", "", "4294967297")) {
        assertRefused(
            "a peer id is a number from 1 to 255", hub, "--peer-id=" + id, "--doorbell-fd=0");
      }
      assertRefused("the number of an open socket", hub, "--peer-id=1", "--doorbell-fd=-1");
      assertRefused("Bad file descriptor", hub, "--peer-id=1", "--doorbell-fd=77");
      assertRefused("not an open socket", hub, "--peer-id=1", "--doorbell-fd=0");
      assertThat(segment.peers().state(1)).isEqualTo(PeerState.EMPTY);
    }
  }

  @Test
  void filesThatAreNoSegments() throws Exception {
    Path path = directory.resolve("file");
    assertRefused("No such file", "--hub-path=" + path);
    Files.write(path, new byte[100]);
    assertRefused("too few for a segment", "--hub-path=" + path);
    Files.write(path, new byte[1000]);
    assertRefused("does not begin as a segment does", "--hub-path=" + path);
    assertRefused("Is a directory", "--hub-path=" + directory);
    assertRefused("not a regular file", "--hub-path=/dev/null");
    Path link = Files.createSymbolicLink(directory.resolve("link"), path);
    assertRefused("symbolic links", "--hub-path=" + link);
  }

  // r[verify shm.handshake.no-negotiation]
  @ParameterizedTest
  @CsvSource({
    "8, 257, unknown version 257",
    "12, 64, unknown header",
    "16, 5, does not fit itself",
    "24, 0, sizes that no segment can have",
    "24, 1029, sizes that no segment can have",
    "32, 0, sizes that no segment can have",
    "32, 256, sizes that no segment can have",
    "32, 255, is cut",
    "36, 3, sizes that no segment can have",
    "36, 1, sizes that no segment can have",
    "36, -2147483648, sizes that no segment can have",
    "40, 192, does not fit itself",
    "48, 0, does not fit itself",
    "56, 1033, sizes that no segment can have",
    "60, 0, sizes that no segment can have",
    "60, 2147483647, is cut",
    "64, 0, sizes that no segment can have",
    "68, 1, a host that has left",
    "76, -1, sizes that no segment can have",
    "80, 1, features"
  })
  void headersThatDoNotFit(int offset, int value, String text) throws Exception {
    Path path = directory.resolve("segment");
    try (Segment segment = Segment.create(Sys.forAnyThread(), path, Placement.PADDED, CONFIG)) {
      try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
        ByteBuffer word = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putInt(0, value);
        assertThat(file.write(word, offset)).isEqualTo(4);
      }
      assertRefused(text, "--hub-path=" + path);
      assertThat(segment.peers().state(1)).isEqualTo(PeerState.EMPTY);
    }
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatWasCut(Placement placement) throws Exception {
    Path path = directory.resolve("segment");
    try (Segment segment = Segment.create(Sys.forAnyThread(), path, placement, CONFIG)) {
      try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
        file.truncate(segment.layout().totalBytes() - 1);
      }
      assertRefused("is cut", "--hub-path=" + path);
    }
  }

  @ParameterizedTest
  @EnumSource
  void entriesThatAreTaken(Placement placement) throws Exception {
    Path path = directory.resolve("segment");
    try (Segment segment = Segment.create(Sys.forAnyThread(), path, placement, CONFIG)) {
      for (int i = 0; i < CONFIG.maxGuests(); i++) {
        assertThat(segment.peers().reserve()).isEqualTo(i + 1);
      }
      assertRefused("no free peer entry, all 2 are taken", "--hub-path=" + path);
    }
  }
}
