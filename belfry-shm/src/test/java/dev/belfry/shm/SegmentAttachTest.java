package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.shm.SegmentException.Reason;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Guests that attach to a file, and everything that can be wrong with it. */
final class SegmentAttachTest extends WithSegmentFile {
  private Reason refusal() {
    try {
      Segment.attach(SYS, path).close();
      throw new AssertionError("it was not refused");
    } catch (SegmentException e) {
      assertThat(e).hasMessageContaining(path.toString());
      return e.reason();
    } catch (IOException e) {
      throw new AssertionError("another error", e);
    }
  }

  // r[verify shm.file.attach]
  @Test
  void aGuestAttachesByPathAndItsEndDeletesNothing() throws IOException {
    try (Segment host = create()) {
      try (Segment guest = Segment.attach(SYS, path)) {
        assertThat(guest.config()).isEqualTo(host.config());
        assertThat(guest.layout().placement()).isEqualTo(Placement.V1);
      }
      assertThat(path).exists();
    }
  }

  interface Damage {
    void to(ByteBuffer segment);
  }

  static Stream<Arguments> damages() {
    var cases = new ArrayList<Arguments>();
    for (int i = 0; i < 8; i++) {
      int at = i;
      cases.add(damage(Reason.INVALID_MAGIC, "magic " + i, b -> b.put(at, (byte) 0x5a)));
    }
    cases.add(damage(Reason.UNSUPPORTED_VERSION, "version", b -> b.putInt(8, 7)));
    cases.add(damage(Reason.UNSUPPORTED_VERSION, "header size", b -> b.putInt(12, 129)));
    cases.add(damage(Reason.INVALID_CONFIG, "guests", b -> b.putInt(32, 256)));
    cases.add(damage(Reason.INVALID_CONFIG, "ring size", b -> b.putInt(36, 7)));
    cases.add(damage(Reason.INVALID_CONFIG, "ring size 2^31", b -> b.putInt(36, 1 << 31)));
    cases.add(damage(Reason.INVALID_CONFIG, "slot size", b -> b.putInt(56, -8)));
    cases.add(damage(Reason.INCONSISTENT, "total size", b -> b.putLong(16, 1 << 20)));
    cases.add(damage(Reason.INCONSISTENT, "peer table", b -> b.putLong(40, 192)));
    cases.add(damage(Reason.INCONSISTENT, "slot region", b -> b.putLong(48, 192)));
    cases.add(damage(Reason.INCONSISTENT, "another ring size", b -> b.putInt(36, 16)));
    cases.add(damage(Reason.HOST_GOODBYE, "goodbye", b -> b.putInt(68, 1)));
    return cases.stream();
  }

  private static Arguments damage(Reason reason, String name, Damage damage) {
    return Arguments.of(name, reason, damage);
  }

  // r[verify shm.handshake.no-negotiation]
  // r[verify shm.segment.magic]
  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("damages")
  void aGuestTellsEachDefectApartAndTouchesNothing(String name, Reason reason, Damage damage)
      throws IOException {
    try (Segment host = create()) {
      ByteBuffer bytes = host.memory().mapping().asByteBuffer().order(ByteOrder.nativeOrder());
      damage.to(bytes);
      byte[] before = Files.readAllBytes(path);

      assertThat(refusal()).isEqualTo(reason);
      assertThat(Files.readAllBytes(path)).isEqualTo(before);
      assertThat(name).isNotEmpty();
    }
  }

  @Test
  void unknownFeaturesOfThePaddedPlacementAreRefused() throws IOException {
    try (Segment host = Segment.create(SYS, path, Placement.PADDED, Sides.CONFIG)) {
      host.memory().mapping().set(JAVA_INT, 80, 4);
      assertThat(refusal()).isEqualTo(Reason.UNSUPPORTED_VERSION);
    }
  }

  @Test
  void whateverIsNoSegmentFileIsRefused() throws Exception {
    Files.createFile(path);
    assertThat(refusal()).isEqualTo(Reason.NOT_A_SEGMENT);
    Files.delete(path);

    Files.createDirectory(path);
    assertThatThrownBy(() -> Segment.attach(SYS, path)).hasMessageContaining("EISDIR");
    Files.delete(path);

    new ProcessBuilder("mkfifo", path.toString()).start().waitFor();
    assertThat(refusal()).isEqualTo(Reason.NOT_A_SEGMENT);
    Files.delete(path);

    Files.createSymbolicLink(path, Path.of("/dev/null"));
    assertThatThrownBy(() -> Segment.attach(SYS, path)).hasMessageContaining("ELOOP");
    Files.delete(path);

    assertThatThrownBy(() -> Segment.attach(SYS, path)).hasMessageContaining("ENOENT");
  }

  @ParameterizedTest
  @EnumSource
  void aFileThatIsOneByteShortIsRefused(Placement placement) throws IOException {
    try (Segment host = Segment.create(SYS, path, placement, Sides.CONFIG)) {
      cut(host.layout().totalBytes() - 1);
      assertThat(refusal()).isEqualTo(Reason.INCONSISTENT);
      cut(100);
      assertThat(refusal()).isEqualTo(Reason.NOT_A_SEGMENT);
    }
  }

  @Test
  void aFileThatCannotBeWrittenIsRefused() throws Exception {
    Path frozen = Files.createDirectory(directory.resolve("frozen"));
    try (Segment host = Segment.create(SYS, frozen.resolve("hub"), Placement.V1, Sides.CONFIG)) {
      String script =
          "mount --bind '%1$s' '%1$s' && mount -o remount,bind,ro '%1$s' && exec \"$@\""
              .formatted(frozen);
      var inNamespace = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", script, "sh"));
      inNamespace.addAll(
          TestProcess.javaCommand(HostProgram.class, "attach", frozen.resolve("hub").toString()));
      try (TestProcess guest = TestProcess.start(inNamespace)) {
        assertThat(guest.line()).contains("EROFS").contains(host.toString());
      }
    }
  }

  @Test
  void aDeadSegmentCanBeInspectedAndNotWritten() throws IOException {
    try (Segment host = create()) {
      host.sayGoodbye();
      try (Segment seen = Segment.inspect(SYS, path)) {
        MemorySegment bytes = seen.memory().mapping();
        assertThat(bytes.get(JAVA_LONG, 0)).isEqualTo(SegmentHeader.MAGIC_NUMBER);
        assertThatThrownBy(() -> bytes.set(JAVA_LONG, 0, 1))
            .isInstanceOf(IllegalArgumentException.class);
      }
    }
  }
}
