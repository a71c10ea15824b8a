package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file that is truncated while in use. */
final class SegmentCutTest extends WithSegmentFile {
  /** The JVM reports a fault on a mapping as an InternalError; neither side crashes. */
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

  /**
   * There, a compare-and-set in interpreted code crashes the JVM: a plain read has to fail first.
   */
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

  /** Channels, the end, a guest's figures and new guests used to fail with the JVM's raw error. */
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

  /** It used to fail with the JVM's raw error and to leak the file. */
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

  /**
   * The state of the entry still has its page, the heartbeat has lost its own. The error of the
   * lifeline used to come as a CompletionException, and the thread with the mutex stayed.
   */
  // r[verify shm.file.attach]
  @Test
  void aGuestIsToldThatTheFileIsCutBeforeItsFirstHeartbeat() throws Exception {
    SegmentConfig beating = SegmentConfig.DEFAULT.withHeartbeat(Duration.ofHours(1));
    try (Segment host = Segment.create(SYS, path, Placement.PADDED, beating)) {
      int page = 4096;
      int id = 6;
      for (int earlier = 1; earlier < id; earlier++) {
        host.peers().reserve();
      }
      long state = host.layout().stateAndEpoch(id);
      assertThat(host.layout().heartbeat(id) / page).isEqualTo(state / page + 1);
      SysTap tap = SysTap.over(SYS);
      tap.script(
          "fcntl",
          (nth, _) -> {
            if (nth == 2) { // the lifeline asks for the host's lock
              cutUnchecked((state / page + 1) * page);
            }
            return OptionalLong.empty();
          });
      Set<Thread> before = mutexHolders();
      assertThatExceptionOfType(SegmentLost.class)
          .isThrownBy(() -> ShmGuest.walkIn(tap.sys(), path, WaitStrategy.ADAPTIVE))
          .withMessageContaining(path.toString());
      for (Thread holder : mutexHolders()) {
        if (!before.contains(holder)) {
          assertThat(holder.join(Duration.ofSeconds(30))).isTrue();
        }
      }
    }
  }

  private static Set<Thread> mutexHolders() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("belfry-mutex"))
        .collect(Collectors.toSet());
  }

  /** Both ends of the new bell used to stay open. */
  // r[verify shm.spawn.ticket]
  @ParameterizedTest
  @EnumSource
  void aHostIsToldThatTheFileIsCutWhileItMakesATicket(Placement placement) throws IOException {
    SysTap tap = SysTap.over(SYS);
    HostOptions options =
        HostOptions.DEFAULT.withPlacement(placement).withPath(path).withSystemCalls(tap.sys());
    try (RunningLoop loop = RunningLoop.start();
        ShmHost host = ShmHost.create(loop.loop(), options)) {
      Descriptors before = Descriptors.now();
      tap.script(
          "socketpair",
          (_, _) -> {
            cutUnchecked(0);
            return OptionalLong.empty();
          });
      assertThatExceptionOfType(SegmentLost.class)
          .isThrownBy(() -> host.addPeer(PeerOptions.DEFAULT))
          .withMessageContaining(path.toString());
      assertThat(before.openedSince()).isEmpty();
    }
  }

  /** The search for new guests used to fail, so that present guests were not looked at any more. */
  // r[verify shm.host.poll-peers]
  @ParameterizedTest
  @EnumSource
  void theGuestsOfAFileThatWasCutAreGivenUpThoughNobodyUsesThem(Placement placement)
      throws Exception {
    var notices = new Notices();
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(Sides.CONFIG)
            .withPath(path)
            .withWalkIns(PeerOptions.DEFAULT.withListener(notices));
    try (RunningLoop loop = RunningLoop.start();
        ShmHost host = ShmHost.create(loop.loop(), options)) {
      ShmGuest guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
      assertThat(notices.next()).isEqualTo("attached");
      cut(0);
      assertThat(notices.next()).isEqualTo("dying VIOLATION");
      assertThatExceptionOfType(SegmentLost.class).isThrownBy(guest::close);
      assertThat(host.peers()).hasSize(1);
    }
  }

  private void cutUnchecked(long bytes) {
    try {
      cut(bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The receivers' turn used to stay with a thread that did not know it had it. */
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
      assertFails(() -> receiving.endReceiving(_ -> {}, new Message(), 1));
      assertThat(receiving.turn().isTaken()).isFalse();
      if (placement == Placement.PADDED) { // format 1 has nothing to read
        assertFails(receiving::tryReceiving);
        assertThat(receiving.turn().isTaken()).isFalse();
      }
    }
  }

  /**
   * The raw error is possible if the code is compiled by then; callers of a peer or guest never see
   * it.
   */
  private static void assertFails(ThrowingCallable call) {
    assertThatThrownBy(call).isInstanceOfAny(SegmentLost.class, InternalError.class);
  }

  /**
   * The JVM reports a fault in compiled code only at a return or a loop back-edge, which used to be
   * after the block that turned the error into a {@link SegmentLost}.
   */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @EnumSource
  void whoeverUsesAFileThatIsCutIsToldSoByCompiledCodeToo(Placement placement) throws Exception {
    List<String> command =
        TestProcess.javaCommand(HotCuts.class, placement.name(), directory.toString()).stream()
            .filter(option -> !option.startsWith("-XX:Tiered"))
            .collect(Collectors.toList());
    try (TestProcess cuts = TestProcess.start(command)) {
      List<String> lines = cuts.rest();
      assertThat(cuts.exitCode()).as("%s", lines).isZero();
      assertThat(lines).contains("done");
      assertThat(lines)
          .filteredOn(line -> line.startsWith("cut "))
          .allSatisfy(line -> assertThat(line).endsWith(": lost"));
    }
  }

  /** It used to wait to the end of its limit for guests that it could not tell. */
  // r[verify shm.goodbye.host]
  @ParameterizedTest
  @EnumSource
  void aHostOfAFileThatWasCutDoesNotWaitForThoseThatWalkedIn(Placement placement) throws Exception {
    var guests = new ComeAndGone();
    HostOptions options =
        HostOptions.DEFAULT.withPlacement(placement).withConfig(Sides.CONFIG).withPath(path);
    try (RunningLoop loop = RunningLoop.start();
        ShmHost host =
            ShmHost.create(
                loop.loop(), options.withWalkIns(PeerOptions.DEFAULT.withListener(guests)))) {
      ShmGuest guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
      guests.come.take();
      cut(0);
      host.goodbye(Duration.ofHours(1)).get(30, TimeUnit.SECONDS);
      assertThatExceptionOfType(SegmentLost.class).isThrownBy(guest::close);
    }
  }
}
