package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import dev.belfry.linux.Sys;
import dev.belfry.shm.SegmentException.Reason;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The peer entries: how they are taken, left and recycled. */
final class PeerTableTest {
  private final Message message = new Message();

  private static Segment guestOf(Segment host) throws IOException {
    return Segment.attach(Sys.forAnyThread(), Path.of("/proc/self/fd/" + host.descriptor()));
  }

  // r[verify shm.guest.attach]
  // r[verify shm.guest.attach-failure]
  @ParameterizedTest
  @EnumSource
  void walkInsTakeTheFirstFreeEntryUntilThereIsNone(Placement placement) throws IOException {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), placement, CONFIG);
        Segment guest = guestOf(host)) {
      assertThat(host.peers().reserve()).isEqualTo(1);
      assertThat(Link.walkIn(guest, WaitStrategy.SLEEP).peer()).isEqualTo(2);
      byte[] before = host.memory().mapping().toArray(JAVA_BYTE);
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(() -> Link.walkIn(guest, WaitStrategy.SLEEP))
          .matches(e -> e.reason() == Reason.NO_FREE_PEER_ENTRY)
          .withMessageContaining("no free peer entry");
      assertThat(host.memory().mapping().toArray(JAVA_BYTE)).isEqualTo(before);
    }
  }

  @Test
  void aReservationIsClaimedOnceOrReleased() throws IOException {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), Placement.V1, CONFIG);
        Segment guest = guestOf(host)) {
      int peer = host.peers().reserve();
      assertThat(host.peers().release(peer)).isTrue();
      assertThat(host.peers().release(peer)).isFalse();
      assertThat(host.peers().reserve()).isEqualTo(peer);
      assertThat(host.peers().epoch(peer)).isEqualTo(2);
      Link.claim(guest, peer, WaitStrategy.SLEEP);
      assertThat(host.peers().epoch(peer)).isEqualTo(2);
      assertThat(host.peers().release(peer)).isFalse();
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(() -> Link.claim(guest, peer, WaitStrategy.SLEEP))
          .matches(e -> e.reason() == Reason.NOT_RESERVED);
      assertThatExceptionOfType(IllegalArgumentException.class)
          .isThrownBy(() -> Link.claim(guest, 3, WaitStrategy.SLEEP));
    }
  }

  /**
   * The next guest on the entry used to believe that its host, which may well sleep, need not be
   * woken.
   */
  // r[verify shm.placement.padded]
  @Test
  void aReservationThatIsReleasedLeavesNoFlagOfASideThatNeverSleeps() throws IOException {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), Placement.PADDED, CONFIG)) {
      byte[] before = host.memory().mapping().toArray(JAVA_BYTE);
      int peer = host.peers().reserve();
      Link.toGuest(host, peer, WaitStrategy.SPIN);
      assertThat(host.peers().release(peer)).isTrue();
      before[(int) host.layout().stateAndEpoch(peer) + Integer.BYTES] = 1; // the epoch stays
      assertThat(host.memory().mapping().toArray(JAVA_BYTE)).isEqualTo(before);
    }
  }

  // r[verify shm.topology.max-guests]
  @ParameterizedTest
  @EnumSource
  void twoHundredAndFiftyFiveGuestsAndNotOneMore(Placement placement) throws IOException {
    var config = new SegmentConfig(60, 0, 255, 2, 64, 1, 1, 0);
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), placement, config);
        Segment guest = guestOf(host)) {
      for (int peer = 1; peer <= 255; peer++) {
        Link link = Link.walkIn(guest, WaitStrategy.SLEEP);
        assertThat(link.peer()).isEqualTo(peer);
        assertThat(send(link, peer, payload(60, peer))).isEqualTo(SendResult.SENT);
      }
      assertThatExceptionOfType(SegmentException.class)
          .isThrownBy(() -> Link.walkIn(guest, WaitStrategy.SLEEP));
      for (int peer = 1; peer <= 255; peer++) {
        Link link = Link.toGuest(host, peer, WaitStrategy.SLEEP);
        assertThat(link.inbox().receive(message)).isTrue();
        assertThat(message.toByteArray()).isEqualTo(payload(60, peer));
      }
    }
  }

  // r[verify shm.crash.recovery]
  // r[verify shm.ring.initialization]
  // r[verify shm.slot.generation]
  @ParameterizedTest
  @EnumSource
  void afterRecoveryTheNextGuestFindsNothingOfItsPredecessor(Placement placement)
      throws IOException {
    try (Sides sides = Sides.of(placement, CONFIG.withChannels(8, 100))) {
      int generation = 0;
      for (int life = 0; life < 5; life++) {
        Link toHost = life == 0 ? sides.toHost : Link.walkIn(sides.guest, WaitStrategy.SLEEP);
        assertThat(toHost.peer()).isEqualTo(1);
        Link toGuest = Link.toGuest(sides.host, 1, WaitStrategy.SLEEP);
        assertThat(toHost.inbox().receive(message)).isFalse();
        assertThat(toGuest.inbox().receive(message)).isFalse();
        for (int i = 0; i < 3; i++) {
          assertThat(send(toHost, i, payload(100, i))).isEqualTo(SendResult.SENT);
          assertThat(send(toGuest, i, payload(100, i))).isEqualTo(SendResult.SENT);
        }
        assertThat(toGuest.inbox().receive(message)).isTrue();
        assertThat(toHost.channels().open()).isNotNull();
        assertThatIllegalStateException().isThrownBy(() -> sides.host.peers().recover(1));
        assertThat(sides.host.peers().leave(1, life + 1)).isTrue();

        // What the guest had published is delivered; what was sent to it comes back.
        assertThat(toGuest.inbox().receive(message)).isTrue();
        assertThat(toGuest.inbox().receive(message)).isTrue();
        sides.host.peers().recover(1);

        assertThat(sides.host.peers().state(1)).isEqualTo(PeerState.EMPTY);
        assertThat(sides.freeSlots(0)).isEqualTo(4);
        assertThat(sides.freeSlots(1)).isEqualTo(4);
        assertThat(sides.host.hostSlotsUsed()).isZero();
        assertThat(sides.bytes().get(JAVA_INT, sides.host.layout().channelState(1, 1))).isZero();
        int now = sides.bytes().get(JAVA_INT, sides.host.layout().slot(1, 0));
        assertThat(now).isGreaterThan(generation);
        generation = now;
        assertThat(send(toHost, 1, new byte[1])).isEqualTo(SendResult.OVER);
        assertThat(toHost.inbox().receive(message)).isFalse();
      }
    }
  }

  // r[verify shm.segment.peer-state]
  @Test
  void aStateThatDoesNotExistIsReportedAndNeverFree() throws IOException {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), Placement.V1, CONFIG);
        Segment guest = guestOf(host)) {
      host.memory().mapping().set(JAVA_INT, host.layout().stateAndEpoch(1), 4);
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(() -> host.peers().state(1))
          .withMessageContaining("4");
      assertThat(Link.walkIn(guest, WaitStrategy.SLEEP).peer()).isEqualTo(2);
    }
  }

  /** The host must never see a guest attached with the epoch of its predecessor. */
  @ParameterizedTest
  @EnumSource
  void aHostThatLooksWithoutPauseSeesStateAndEpochTogether(Placement placement) throws Exception {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), placement, CONFIG);
        Segment guest = guestOf(host)) {
      int lives = 10_000;
      Thread comingAndGoing =
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      for (int i = 1; i <= lives; i++) {
                        Link link = Link.walkIn(guest, WaitStrategy.SLEEP);
                        while (!host.peers().leave(link.peer(), i)) {
                          Thread.onSpinWait();
                        }
                        host.peers().recover(link.peer());
                      }
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      long address = host.peers().pairAddress(1);
      long seen = 0;
      while (comingAndGoing.isAlive()) {
        long pair = host.memory().getLongAcquire(address);
        int state = (int) pair;
        int epoch = (int) (pair >>> 32);
        // Within one epoch the state goes from Attached to Goodbye to Empty, and never back.
        int stage = state == 0 ? 3 : state;
        long order = epoch * 4L + (epoch == 0 ? 0 : stage);
        assertThat(order).isGreaterThanOrEqualTo(seen);
        seen = order;
      }
      assertThat(host.peers().epoch(1)).isEqualTo(lives);
    }
  }
}
