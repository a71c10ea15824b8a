package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Sys;
import dev.belfry.loop.Coroutine;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How a guest leaves, whatever its host does meanwhile. */
@Timeout(120)
final class GuestLeaveTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final byte[] BYTES = new byte[9];

  @TempDir private Path directory;

  private final Message message = new Message();
  private final ComeAndGone guests = new ComeAndGone();

  private HostFixture hostOfWalkIns(Placement placement) throws IOException {
    return HostFixture.of(
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(HostFixture.CONFIG)
            .withWalkIns(PeerOptions.DEFAULT.withListener(guests)));
  }

  /** Leaving used to wait for an invalid counter, throw, and leak the lock and descriptors. */
  @Test
  void aGuestWhoseHostForgesStopsSaysWhyAndLeaves() throws Exception {
    try (HostFixture fixture = HostFixture.of(Placement.V1);
        ShmGuest guest = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE)) {
      long tail = guest.segment().layout().tail(1, Direction.TO_HOST);
      guest.segment().memory().mapping().set(ValueLayout.JAVA_INT, tail, 20);
      SendResult last = SendResult.SENT;
      for (int i = 0; i < 4 && last == SendResult.SENT; i++) {
        last = guest.send(MessageKind.REQUEST, i, 0, BYTES, 0, 9);
      }
      assertThat(last).isEqualTo(SendResult.OVER);
      assertThat(guest.end()).contains(ShmGuest.End.VIOLATION);
      assertThat(guest.receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
      guest.detach(Duration.ofSeconds(1));
      assertThat(fixture.host().segment().peers().isAttached(1)).isFalse();
    }
  }

  /**
   * A guest that had left used to read on after its entry was reused: stale bytes, a violation that
   * did not happen, or a message to its successor.
   */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void aGuestThatHasLeftReadsNothingOfItsSuccessor(Placement placement) throws Exception {
    try (HostFixture fixture = hostOfWalkIns(placement);
        ShmGuest guest = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE)) {
      Peer peer = guests.come.take();
      for (int i = 0; i < 3; i++) {
        assertThat(peer.send(MessageKind.REQUEST, i, 0, BYTES, 0, 9)).isEqualTo(SendResult.SENT);
      }
      assertThat(guest.receive(message)).isTrue(); // it has seen that there are two more
      guest.detach(Duration.ofSeconds(1));
      guests.gone.take();
      fixture.loop.call(() -> true); // the entry becomes free after the notice
      assertThat(guest.receive(message)).isFalse();
      try (ShmGuest successor = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE)) {
        assertThat(successor.peerId()).isEqualTo(guest.peerId());
        Peer next = guests.come.take();
        for (int i = 5; i < 8; i++) {
          assertThat(next.send(MessageKind.REQUEST, i, 0, BYTES, 0, 9)).isEqualTo(SendResult.SENT);
        }
        assertThat(guest.receive(message)).isFalse();
        assertThat(guest.receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
        assertThat(guest.end()).contains(ShmGuest.End.DETACHED);
        for (int i = 5; i < 8; i++) {
          assertThat(successor.receive(message)).isTrue();
          assertThat(message.id()).isEqualTo(i);
        }
      }
    }
  }

  /**
   * The host used to reclaim the entry while a thread of the guest was still receiving, which then
   * freed a slot and stored a tail that belonged to another guest.
   */
  // r[verify shm.guest.detach]
  @Test
  void theEntryOfAWalkInIsItsOwnUntilNobodyReceivesAnyMore() throws Exception {
    SysTap tap = SysTap.over(SYS);
    var receiving = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    try (HostFixture fixture = hostOfWalkIns(Placement.V1);
        ShmGuest guest = ShmGuest.walkIn(tap.sys(), fixture.path(), WaitStrategy.ADAPTIVE)) {
      byte[] large = Sides.payload(1000, 1);
      assertThat(guests.come.take().send(MessageKind.REQUEST, 1, 0, large, 0, 1000))
          .isEqualTo(SendResult.SENT);
      Thread receiver = Thread.ofPlatform().unstarted(() -> guest.receive(message));
      tap.script(
          "futex",
          (_, _) -> {
            if (Thread.currentThread() == receiver) { // wakes, as it gave back a slot
              receiving.countDown();
              awaitUninterruptibly(goOn);
            }
            return OptionalLong.empty();
          });
      receiver.start();
      receiving.await();
      Thread detacher = Thread.ofPlatform().start(() -> detach(guest));
      assertThat(guests.gone.poll(500, TimeUnit.MILLISECONDS)).isNull();
      goOn.countDown();
      assertThat(guests.gone.take()).isNotNull();
      fixture.assertAllFree();
      receiver.join();
      detacher.join();
    }
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void detach(ShmGuest guest) {
    detachWithin(guest, Duration.ofSeconds(1));
  }

  private static void detachWithin(ShmGuest guest, Duration limit) {
    try {
      guest.detach(limit);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * The leaving thread waits for the coroutine, and thereby keeps it from running; so the wait must
   * be limited.
   */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void aWalkInCanBeClosedOnTheLoopWhoseCoroutineReceives(Placement placement) throws Exception {
    try (HostFixture fixture = hostOfWalkIns(placement);
        RunningLoop loop = RunningLoop.start()) {
      ShmGuest guest = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE);
      var begun = new CountDownLatch(1);
      Coroutine<Awaited> coroutine =
          loop.loop()
              .spawn(
                  "receives",
                  () -> {
                    begun.countDown();
                    return guest.receiveBlocking(message, FutexWait.FOREVER);
                  });
      begun.await();
      loop.call(
          () -> {
            guest.close();
            return true;
          });
      assertThat(coroutine.result().get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.OVER);
      assertThat(guests.gone.take()).isNotNull();
      fixture.assertAllFree();
      for (Thread thread : Thread.getAllStackTraces().keySet()) {
        if (thread.getName().equals("belfry-leaving")) {
          thread.join(); // it returns what the fixture would miss
        }
      }
    }
  }

  /**
   * A second thread used to close the bell while the first still waited for the host. The lifeline
   * took that for the host's end, and killed the process.
   */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void aGuestThatIsClosedWhileItDetachesLeavesAllTheSame(Placement placement) throws Exception {
    var notices = new Notices();
    try (HostFixture fixture = HostFixture.of(placement)) {
      ShmHost host = fixture.host();
      PeerOptions unread = PeerOptions.DEFAULT.withListener(notices);
      host.spawn(TestProcess.javaCommand(TwiceClosedGuest.class), host.addPeer(unread));
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
      fixture.assertAllFree();
    }
  }

  /** A thread that must not wait used to be blocked for as long as another was detaching. */
  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void whoMustNotWaitIsNotKeptWaitingByWhoDetaches(Placement placement) throws Exception {
    try (HostFixture fixture = hostOfWalkIns(placement);
        ShmGuest guest = ShmGuest.walkIn(SYS, fixture.path(), WaitStrategy.ADAPTIVE)) {
      Peer peer = guests.come.take();
      assertThat(guest.send(MessageKind.REQUEST, 1, 0, BYTES, 0, 9)).isEqualTo(SendResult.SENT);
      Thread detacher =
          Thread.ofPlatform().start(() -> detachWithin(guest, Duration.ofSeconds(20)));
      while (!guest.exchange().sending().turn().isTaken()) {
        Thread.onSpinWait();
      }
      assertThat(guest.send(MessageKind.REQUEST, 2, 0, BYTES, 0, 9))
          .isIn(SendResult.RING_FULL, SendResult.OVER);
      assertThat(guest.link().isOver()).as("whether the other is through").isFalse();
      assertThat(peer.receive(message)).isTrue();
      detacher.join();
    }
  }

  /**
   * A thread that detached without the turn used to publish what another was about to publish, so
   * that the head went backwards: a violation for the host.
   */
  @Test
  void whoLeavesWithoutTheTurnLeavesTheOutboxAlone() throws Exception {
    try (Sides sides = Sides.of(Placement.V1, Sides.CONFIG)) {
      var sending = new Exchange(sides.toHost, null).sending();
      assertThat(sending.turn().tryTake()).isTrue(); // plays the thread that has the turn
      sides.toHost.outbox().stage(MessageKind.REQUEST, 1, 0, BYTES, 0, 9);
      Thread leaving = Thread.ofPlatform().start(() -> sending.leave(System.nanoTime()));
      leaving.join();
      assertThat(sides.toHost.hasLeft()).isTrue();
      assertThat(sides.toGuest.inbox().receive(message)).isFalse();
    }
  }

  /** A guest whose segment was truncated used to leak the lock and descriptors, too. */
  @Test
  void aGuestWhoseSegmentIsCutGivesBackWhatItHad() throws Exception {
    Path path = directory.resolve("hub");
    Lifeline.get(SYS); // lives as long as the process
    try (Segment _ = Segment.create(SYS, path, Placement.V1, Sides.CONFIG)) {
      Descriptors before = Descriptors.now();
      ShmGuest guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
      try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
        file.truncate(0);
      }
      assertThatExceptionOfType(SegmentLost.class).isThrownBy(guest::close);
      assertThat(before.openedSince()).isEmpty();
    }
  }

  /**
   * A guest of format 1 that slept at its bell used to get an exception when the bell was closed.
   */
  // r[verify shm.guest.detach]
  @Test
  void whoSleepsAtABellThatIsClosedLooksOnceMore() throws Exception {
    Doorbell.Pair bells = Doorbell.pair(SYS);
    var looks = new AtomicInteger();
    BellWait.Wait closedAfterTheFirstLook =
        _ -> {
          bells.guest().close();
          return looks.incrementAndGet() == 1 ? Awaited.TIMEOUT : Awaited.OVER;
        };
    assertThat(new BellWait(bells.guest()).await(closedAfterTheFirstLook, FutexWait.FOREVER))
        .isEqualTo(Awaited.OVER);
    bells.host().close();
  }

  /**
   * The C library keeps a thread's list of robust mutexes inside the mutexes. The mutex of a
   * truncated segment used to stay in that list, and the next lock or unlock crashed the JVM.
   */
  // r[verify shm.file.attach]
  @ParameterizedTest
  @ValueSource(strings = {"before", "meanwhile"})
  void aGuestWhoseSegmentIsCutIsNoneOfTheOthersTrouble(String when) throws Exception {
    Path cut = directory.resolve("cut");
    Path whole = directory.resolve("whole");
    try (Segment _ = Segment.create(SYS, cut, Placement.PADDED, Sides.CONFIG);
        Segment other = Segment.create(SYS, whole, Placement.PADDED, Sides.CONFIG);
        TestProcess guest =
            TestProcess.java(CutGuest.class, when, cut.toString(), whole.toString())) {
      String said = guest.line();
      while (!said.equals("left the other")) { // it also logs what it finds about the truncated one
        said = guest.line();
      }
      assertThat(guest.exitCode()).isZero();
      assertThat(other.peers().state(1)).isEqualTo(PeerState.GOODBYE);
    }
  }

  /** The C library used to trust the two pointers behind the lock word, and followed them. */
  @Test
  void whateverStandsBehindTheWordOfItsMutexAGuestLeaves() throws Exception {
    var notices = new Notices();
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      Segment segment = fixture.host().segment();
      long mutex = segment.layout().robustMutex(guest.peer().id());
      for (int at = 16; at < 40; at += Long.BYTES) {
        segment.memory().mapping().set(ValueLayout.JAVA_LONG, mutex + at, 0x10);
      }
      guest.step("detach", "detached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      guest.say("exit 0");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
      fixture.assertAllFree();
    }
  }
}
