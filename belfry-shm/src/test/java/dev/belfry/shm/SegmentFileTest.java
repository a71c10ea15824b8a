package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import dev.belfry.shm.SegmentException.Reason;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Segments in files and in anonymous memory, and everything that can be wrong with them. */
final class SegmentFileTest {
  private static final Sys SYS = Sys.forAnyThread();

  @TempDir private Path directory;
  private Path path;
  private Descriptors before;

  @BeforeEach
  void look() throws IOException {
    path = directory.resolve("hub");
    Lifeline.get(SYS); // lives as long as the process
    before = Descriptors.now();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    assertThat(before.openedSince()).isEmpty();
  }

  private Segment create() throws IOException {
    return Segment.create(SYS, path, Placement.V1, Sides.CONFIG);
  }

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

  // r[verify shm.file.create]
  // r[verify shm.file.permissions]
  // r[verify shm.file.cleanup]
  @Test
  void aFileIsCompleteOnlyForItsOwnerAndGoneAfterTheEnd() throws IOException {
    try (Segment segment = create()) {
      assertThat(Files.size(path)).isEqualTo(segment.layout().totalBytes());
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
          .isEqualTo("rw-------");
      assertThat(names()).containsExactly("hub");
    }
    assertThat(names()).isEmpty();
  }

  // Its end needed a descriptor more, and left the file behind where there was none.
  // r[verify shm.file.cleanup]
  @Test
  void aHostThatHasRunOutOfDescriptorsStillDeletesItsFile() throws IOException {
    SysTap tap = SysTap.over(SYS);
    try (Segment _ = Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG)) {
      tap.fail("openat", Errno.EMFILE);
    }
    assertThat(names()).isEmpty();
  }

  // Its end failed, because what has its path by then could not be opened.
  // r[verify shm.file.cleanup]
  @Test
  void whateverHasThePathOfAHostByThenIsLeftAlone() throws IOException {
    try (Segment _ = create()) {
      Files.delete(path);
      Files.createSymbolicLink(path, directory.resolve("elsewhere"));
    }
    assertThat(names()).containsExactly("hub");
  }

  private List<String> names() throws IOException {
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> String.valueOf(file.getFileName())).toList();
    }
  }

  /** A host killed between making its file and giving it its path left the whole segment there. */
  // r[verify shm.file.cleanup]
  @Test
  void whatAHostLeftThatDiedBeforeItsFileWasInPlaceIsRemovedByTheNext() throws IOException {
    Files.write(directory.resolve(".hub.0123456789abcdef"), new byte[100]);
    Files.createFile(directory.resolve(".hub.00000000deadbeef")); // perhaps about to be locked
    Files.write(directory.resolve(".hub.notes"), new byte[100]);
    SegmentFile.Aside living = SegmentFile.createAside(SYS, path);
    Files.write(living.aside(), new byte[100]);
    create().close();
    assertThat(names())
        .containsExactlyInAnyOrder(
            ".hub.00000000deadbeef", ".hub.notes", String.valueOf(living.aside().getFileName()));
    living.abandon();
  }

  @Test
  void theModeIsGivenWithTheOpenAndNeverChanged() throws IOException {
    SysTap tap = SysTap.over(SYS);
    var modes = new ArrayList<Integer>();
    tap.script(
        "openat",
        (_, arguments) -> {
          if (((Integer) arguments[2] & 0x40) != 0) {
            modes.add((Integer) arguments[3]);
          }
          return java.util.OptionalLong.empty();
        });
    Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG).close();
    assertThat(modes).containsExactly(0600);
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

  // r[verify shm.file.mmap-posix]
  @Test
  void aSegmentIsMappedOnceSharedAndWritable() throws IOException {
    try (Segment host = create()) {
      String inode = String.valueOf(Files.getAttribute(path, "unix:ino"));
      // 7f0e5c000000-7f0e5c002000 rw-s 00000000 00:21 1234   /the/path
      Pattern line = Pattern.compile("(\\w+)-(\\w+) (....) \\w+ [\\w:]+ " + inode + " .*");
      List<Matcher> maps =
          Files.readAllLines(Path.of("/proc/self/maps")).stream()
              .map(line::matcher)
              .filter(Matcher::matches)
              .toList();
      assertThat(maps).hasSize(1);
      assertThat(maps.getFirst().group(3)).isEqualTo("rw-s");
      long bytes =
          Long.parseLong(maps.getFirst().group(2), 16)
              - Long.parseLong(maps.getFirst().group(1), 16);
      assertThat(bytes).isEqualTo((host.layout().totalBytes() + 4095) / 4096 * 4096);
      try (Segment guest = Segment.attach(SYS, path)) {
        host.memory().mapping().set(JAVA_INT, 100, 77);
        assertThat(guest.memory().mapping().get(JAVA_INT, 100)).isEqualTo(77);
      }
    }
  }

  // r[verify shm.file.path]
  @Test
  void anAnonymousSegmentCannotBeCut() throws IOException {
    try (Segment host = Segment.createAnonymous(SYS, Placement.PADDED, Sides.CONFIG)) {
      assertThatExceptionOfType(ErrnoException.class)
          .isThrownBy(() -> SharedFile.truncate(SYS, host.descriptor(), 100))
          .matches(e -> e.is(Errno.EPERM));
      Path own = Path.of("/proc/self/fd/" + host.descriptor());
      try (Segment guest = Segment.attach(SYS, own)) {
        assertThat(guest.layout().placement()).isEqualTo(Placement.PADDED);
      }
    }
  }

  @Test
  void aSecondHostIsRefusedAndTheFirstUndisturbed() throws IOException {
    try (Segment first = create()) {
      first.peers().reserve();
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(this::create)
          .matches(e -> e.reason() == Reason.IN_USE)
          .withMessageContaining("living host");
      assertThat(first.peers().state(1)).isEqualTo(PeerState.RESERVED);
      Segment.attach(SYS, path).close();
      assertThat(names()).containsExactly("hub");
    }
  }

  @Test
  void aFileThatADeadHostLeftIsReplaced() throws Exception {
    try (TestProcess host = TestProcess.java(HostProgram.class, "create", path.toString())) {
      assertThat(host.line()).isEqualTo("created");
      host.kill();
      host.exitCode();
    }
    assertThat(path).exists();
    try (Segment next = create()) {
      assertThat(next.peers().state(1)).isEqualTo(PeerState.EMPTY); // the dead one had reserved it
    }
  }

  @Test
  void aFileThatIsNoSegmentIsNotReplaced() throws IOException {
    Files.writeString(path, "something that somebody needs");
    assertThatExceptionOfType(SegmentException.class)
        .isThrownBy(this::create)
        .matches(e -> e.reason() == Reason.NOT_A_SEGMENT);
    assertThat(path).hasContent("something that somebody needs");
    assertThat(names()).containsExactly("hub");
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

  private void cut(long bytes) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(bytes);
    }
  }

  /** The JVM reports a fault on a mapping as an InternalError; neither side dies of it. */
  @ParameterizedTest
  @EnumSource
  void aFileThatIsCutUnderBothSidesGivesEachAFinalError(Placement placement) throws IOException {
    try (Segment host = Segment.create(SYS, path, placement, Sides.CONFIG);
        Segment guest = Segment.attach(SYS, path)) {
      Link toHost = Link.walkIn(guest, WaitStrategy.SLEEP);
      Link toGuest = Link.toGuest(host, toHost.peer(), WaitStrategy.SLEEP);
      cut(0);
      for (Link link : List.of(toHost, toGuest)) {
        assertThatExceptionOfType(SegmentLost.class)
            .isThrownBy(() -> Sides.send(link, 1, new byte[10]))
            .withMessageContaining(path.toString());
        assertThatExceptionOfType(SegmentLost.class)
            .isThrownBy(() -> link.inbox().receive(new Message()));
        assertThatExceptionOfType(SegmentLost.class)
            .isThrownBy(() -> link.inbox().awaitData(Sides.inMillis(10_000)));
      }
    }
  }

  /** A compare-and-set there that is not compiled ends the JVM: something has to fail first. */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @EnumSource
  void anEntryOfAFileThatWasCutIsLookedAtBeforeItIsChanged(Placement placement) throws IOException {
    try (Segment host = Segment.create(SYS, path, placement, Sides.CONFIG)) {
      PeerTable peers = host.peers();
      int reserved = peers.reserve();
      int epoch = peers.epoch(reserved);
      cut(0);
      for (ThrowingCallable change :
          List.<ThrowingCallable>of(
              peers::reserve,
              () -> peers.release(reserved),
              () -> peers.claim(reserved),
              () -> peers.leave(reserved, epoch))) {
        assertThatExceptionOfType(InternalError.class).isThrownBy(change);
      }
    }
  }

  /**
   * Channels, the end, the figures of a guest and a new one failed with the raw error of the JVM.
   */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @EnumSource
  void whoeverAsksForAnythingInAFileThatWasCutIsToldSo(Placement placement) throws Exception {
    HostOptions options =
        HostOptions.DEFAULT.withPlacement(placement).withConfig(Sides.CONFIG).withPath(path);
    var guests = new ComeAndGone();
    try (RunningLoop loop = RunningLoop.start();
        ShmHost host =
            ShmHost.create(
                loop.loop(), options.withWalkIns(PeerOptions.DEFAULT.withListener(guests)))) {
      ShmGuest guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
      Peer peer = guests.come.take();
      Channel channel = Objects.requireNonNull(guest.openChannel());
      var end = new Message();
      end.set(MessageKind.CLOSE, 1, 0, 0);
      end.setChannelState(Channels.CLOSED);
      cut(0);
      long deadline = Sides.inMillis(10_000);
      List<ThrowingCallable> calls =
          List.of(
              guest::end,
              guest::openChannel,
              () -> guest.send(channel, new byte[9], 0, 9, deadline),
              () -> channel.grant(1),
              () -> guest.end(channel, MessageKind.CLOSE, deadline),
              () -> guest.channelOf(end),
              () -> guest.link().isOver(),
              peer::backlog,
              peer::sentCount,
              peer::readCount,
              peer::slotsUsed,
              host.segment()::hostSlotsUsed,
              () -> SegmentSnapshot.of(host.segment()),
              () -> host.addPeer(PeerOptions.DEFAULT));
      for (ThrowingCallable call : calls) {
        assertThatExceptionOfType(SegmentLost.class)
            .isThrownBy(call)
            .withMessageContaining(path.toString());
      }
      assertThatExceptionOfType(SegmentLost.class).isThrownBy(guest::close);
      assertThat(host.segment().isClosed()).isFalse();
    }
  }

  /** It failed with the raw error of the JVM, and the file stayed open. */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @EnumSource
  void aGuestIsToldThatTheFileIsCutWhileItComes(Placement placement) throws IOException {
    try (Segment host = Segment.create(SYS, path, placement, Sides.CONFIG)) {
      int reserved = host.peers().reserve();
      SysTap tap = SysTap.over(SYS);
      tap.script(
          "mmap",
          (_, _) -> {
            cutUnchecked(SegmentLayout.HEADER_BYTES);
            return OptionalLong.empty();
          });
      assertThatExceptionOfType(SegmentLost.class)
          .isThrownBy(() -> ShmGuest.walkIn(tap.sys(), path, WaitStrategy.ADAPTIVE))
          .withMessageContaining(path.toString());
      cut(0);
      assertThatExceptionOfType(SegmentLost.class)
          .isThrownBy(() -> Link.claim(host, reserved, WaitStrategy.ADAPTIVE));
    }
  }

  private void cutUnchecked(long bytes) {
    try {
      cut(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The turn to receive stayed with a thread that did not know that it had it. */
  @ParameterizedTest
  @EnumSource
  void whoCannotReceiveFromAFileThatWasCutLeavesTheTurnToOthers(Placement placement)
      throws Exception {
    try (Segment host = Segment.create(SYS, path, placement, Sides.CONFIG);
        Segment guest = Segment.attach(SYS, path)) {
      Link toHost = Link.walkIn(guest, WaitStrategy.SLEEP);
      Link toGuest = Link.toGuest(host, toHost.peer(), WaitStrategy.SLEEP);
      Receiving receiving = new Exchange(toGuest, null).receiving();
      receiving.receiveAndListen(_ -> {}, new Message(), 1); // so that there is a flag to change
      assertThat(receiving.tryReceiving()).isTrue();
      cut(0);
      assertThatExceptionOfType(SegmentLost.class)
          .isThrownBy(() -> receiving.endReceiving(_ -> {}, new Message(), 1));
      assertThat(receiving.turn().isTaken()).isFalse();
      if (placement == Placement.PADDED) { // format 1 has nothing to look at
        assertThatExceptionOfType(SegmentLost.class).isThrownBy(receiving::tryReceiving);
        assertThat(receiving.turn().isTaken()).isFalse();
      }
    }
  }

  @Test
  void aDeletedFileStaysGoodForThoseWhoHaveIt() throws IOException {
    try (Segment host = create();
        Segment guest = Segment.attach(SYS, path)) {
      Files.delete(path);
      Link toHost = Link.walkIn(guest, WaitStrategy.SLEEP);
      assertThat(Sides.send(toHost, 1, new byte[10])).isEqualTo(SendResult.SENT);
      Link toGuest = Link.toGuest(host, toHost.peer(), WaitStrategy.SLEEP);
      assertThat(toGuest.inbox().receive(new Message())).isTrue();
      assertThatThrownBy(() -> Segment.attach(SYS, path)).hasMessageContaining("ENOENT");
    }
  }

  @Test
  void aFullFileSystemIsAnErrorWhenTheSegmentIsMade() throws Exception {
    Path small = Files.createDirectory(directory.resolve("small"));
    // In a mount namespace of its own, so that nothing is left behind whatever happens.
    List<String> command =
        TestProcess.javaCommand(HostProgram.class, "create", small.resolve("hub").toString());
    String script = "mount -t tmpfs -o size=64k none '%s' && exec \"$@\"".formatted(small);
    var inNamespace = new ArrayList<>(List.of("unshare", "-rm", "sh", "-c", script, "sh"));
    inNamespace.addAll(command);
    try (TestProcess host = TestProcess.start(inNamespace)) {
      assertThat(host.line()).contains("ENOSPC").contains("fallocate");
      assertThat(host.line()).isEqualTo("left: []");
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
  void aFailingStepLeavesNothingBehind() {
    for (String step : List.of("openat", "fcntl", "fallocate", "mmap")) {
      SysTap tap = SysTap.over(SYS);
      tap.failAt(step, 1, Errno.EMFILE);
      assertThatExceptionOfType(ErrnoException.class)
          .as(step)
          .isThrownBy(() -> Segment.create(tap.sys(), path, Placement.V1, Sides.CONFIG))
          .matches(e -> e.is(Errno.EMFILE));
      assertThat(directory).isEmptyDirectory();
    }
  }

  // r[verify shm.architecture]
  @Test
  void anotherByteOrderOrWordSizeIsRefused() {
    assertThatThrownBy(() -> Segment.checkPlatform(ByteOrder.BIG_ENDIAN, "64"))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("BIG_ENDIAN");
    assertThatThrownBy(() -> Segment.checkPlatform(ByteOrder.LITTLE_ENDIAN, "32"))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("32 bits");
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
