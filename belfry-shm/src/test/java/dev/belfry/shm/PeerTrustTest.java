package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A guest that forges anything loses its connection, whichever call of its host detects it. Only
 * receiving used to end it: sending or opening a channel threw at every attempt, and the guest
 * stayed.
 */
@Timeout(120)
final class PeerTrustTest {
  private static final byte[] BYTES = new byte[9];

  private final Notices notices = new Notices();
  private final Message message = new Message();

  private static void write(Segment segment, long offset, int value) {
    segment.memory().mapping().set(ValueLayout.JAVA_INT, offset, value);
  }

  /** What a guest has corrupted, and the result of the call that detects it. */
  enum Spoiled {
    SPACE_FOR_A_MESSAGE,
    SPACE_THAT_IS_WAITED_FOR,
    SPACE_FOR_THE_END_OF_A_CHANNEL,
    CREDIT,
    STATE_OF_A_CHANNEL,
    CHANNEL_OF_A_MESSAGE;

    Object findOut(Peer peer) {
      long deadline = Sides.inMillis(30_000);
      return switch (this) {
        case SPACE_FOR_A_MESSAGE -> peer.send(MessageKind.REQUEST, 1, 0, BYTES, 0, 9);
        case SPACE_THAT_IS_WAITED_FOR ->
            peer.sendBlocking(MessageKind.REQUEST, 1, 0, BYTES, 0, 9, deadline);
        case SPACE_FOR_THE_END_OF_A_CHANNEL -> peer.end(opened(peer), MessageKind.CLOSE, deadline);
        case CREDIT -> {
          Channel channel = opened(peer);
          spoil(peer.link().segment()); // opening has repaired it
          yield peer.send(channel, BYTES, 0, 9, deadline);
        }
        case STATE_OF_A_CHANNEL -> Optional.ofNullable(peer.openChannel());
        case CHANNEL_OF_A_MESSAGE -> {
          var forged = new Message();
          forged.set(MessageKind.DATA, 200, 0, 0);
          yield Optional.ofNullable(peer.channelOf(forged));
        }
      };
    }

    private static Channel opened(Peer peer) {
      return Objects.requireNonNull(peer.openChannel());
    }

    void spoil(Segment segment) {
      SegmentLayout layout = segment.layout();
      switch (this) {
        case SPACE_FOR_A_MESSAGE, SPACE_THAT_IS_WAITED_FOR, SPACE_FOR_THE_END_OF_A_CHANNEL ->
            write(segment, layout.tail(1, Direction.TO_GUEST), 20);
        case CREDIT -> write(segment, layout.channelGranted(1, 2), -1);
        case STATE_OF_A_CHANNEL -> write(segment, layout.channelState(1, 2), 7);
        case CHANNEL_OF_A_MESSAGE -> {}
      }
    }
  }

  // r[verify shm.trust.counters]
  // r[verify shm.trust.channels]
  @ParameterizedTest
  @EnumSource
  void aGuestIsThrownOutByWhicheverCallFindsItOut(Spoiled spoiled) throws Exception {
    SegmentConfig config = HostFixture.CONFIG.withChannels(8, 100);
    try (HostFixture fixture = HostFixture.of(HostOptions.DEFAULT.withConfig(config));
        SteppedGuest guest =
            SteppedGuest.attached(fixture.host(), PeerOptions.DEFAULT.withListener(notices))) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = guest.peer();
      guest.step("send 1 1", "SENT"); // from now on channels can be opened
      assertThat(peer.receiveBlocking(message, Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
      for (int i = 0; i < 3; i++) {
        assertThat(peer.send(MessageKind.REQUEST, i, 0, BYTES, 0, 9)).isEqualTo(SendResult.SENT);
      }
      spoiled.spoil(fixture.host().segment());
      assertThat(spoiled.findOut(peer)).isIn(SendResult.OVER, Optional.empty());
      assertThat(notices.next()).isEqualTo("dying VIOLATION");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }

  /**
   * The rest used to be read as long as there was any: a guest that kept writing blocked the loop.
   */
  // r[verify shm.trust.counters]
  @ParameterizedTest
  @EnumSource
  void aGuestThatWritesOnAfterItsGoodbyeIsReadNoMoreThanARingHolds(Placement placement)
      throws Exception {
    int endless = 100_000;
    var handled = new AtomicInteger();
    MessageHandler writesOn =
        (peer, _) -> {
          if (handled.incrementAndGet() < endless) {
            writeNext(peer);
          }
        };
    HostOptions options =
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(HostFixture.CONFIG)
            .withWalkIns(notices.options().withHandler(writesOn));
    try (HostFixture fixture = HostFixture.of(options);
        Segment segment = Segment.attach(Sys.forAnyThread(), fixture.path())) {
      Link guest = Link.walkIn(segment, WaitStrategy.ADAPTIVE);
      assertThat(notices.next()).isEqualTo("attached");
      fixture.loop.call(
          () -> {
            guest.outbox().send(MessageKind.REQUEST, 1, 0, BYTES, 0, 9);
            return segment.peers().leave(guest.peer(), 1);
          });
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone null");
      assertThat(handled.get()).isLessThan(endless);
    }
  }

  /** Writes a message behind those that were read, as a guest can without our code. */
  private static void writeNext(Peer peer) {
    Segment segment = peer.link().segment();
    var ring = new Ring(segment, peer.id(), Direction.TO_HOST);
    int counter = peer.link().inbox().counter();
    long descriptor = ring.descriptor(counter);
    MessageDescriptor.writeInline(segment.memory(), descriptor, 0, BYTES, 0, 9);
    long first = MessageDescriptor.firstWord(MessageKind.REQUEST, ring.lapMark(counter), 1);
    segment.memory().setLongRelease(descriptor, first);
    write(segment, segment.layout().head(peer.id(), Direction.TO_HOST), counter + 1);
  }

  @Test
  void aGuestIsThrownOutByAHandlerThatFindsItOut() throws Exception {
    MessageHandler granting =
        (peer, _) -> {
          Channel channel = Objects.requireNonNull(peer.openChannel());
          Segment segment = peer.link().segment();
          write(segment, segment.layout().channelState(peer.id(), channel.id()), 7);
          channel.grant(1);
        };
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SteppedGuest guest =
            SteppedGuest.attached(fixture.host(), notices.options().withHandler(granting))) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.say("send 1 1");
      assertThat(notices.next()).isEqualTo("dying VIOLATION");
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }
}
