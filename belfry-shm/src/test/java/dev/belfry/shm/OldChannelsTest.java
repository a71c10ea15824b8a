package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The channels of a guest that has left, after its entry was reused. Using them used to open, end
 * and grant credit on channels of its successor.
 */
@Timeout(120)
final class OldChannelsTest {
  private static final byte[] BYTES = new byte[9];

  private final ComeAndGone guests = new ComeAndGone();
  private final Message message = new Message();

  private @Nullable HostFixture fixture;
  private @Nullable ShmGuest guest;
  private @Nullable ShmGuest successor;

  @AfterEach
  void close() throws IOException {
    for (ShmGuest left : Stream.of(guest, successor).filter(Objects::nonNull).toList()) {
      left.close();
    }
    if (fixture != null) {
      fixture.close();
    }
  }

  private static Peer next(BlockingQueue<Peer> peers) throws InterruptedException {
    return Objects.requireNonNull(peers.poll(60, TimeUnit.SECONDS));
  }

  private HostFixture host(Placement placement) throws IOException {
    fixture =
        HostFixture.of(
            HostOptions.DEFAULT
                .withPlacement(placement)
                .withConfig(HostFixture.CONFIG.withRingSize(8).withChannels(6, 100))
                .withWalkIns(PeerOptions.DEFAULT.withListener(guests)));
    return fixture;
  }

  private static ShmGuest walkIn(HostFixture fixture) throws IOException {
    return ShmGuest.walkIn(Sys.forAnyThread(), fixture.path(), WaitStrategy.ADAPTIVE);
  }

  private static Channel opened(Messenger side) {
    return Objects.requireNonNull(side.openChannel());
  }

  private static void send(Messenger side, Channel channel) {
    assertThat(side.send(channel, BYTES, 0, 9, Sides.inMillis(30_000))).isEqualTo(SendResult.SENT);
  }

  private static void end(Messenger side, Channel channel) {
    assertThat(side.end(channel, MessageKind.CLOSE, Sides.inMillis(30_000)))
        .isEqualTo(SendResult.SENT);
  }

  private @Nullable Channel received(Messenger side) {
    assertThat(side.receiveBlocking(message, Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
    return side.channelOf(message);
  }

  /** The guest leaves; another takes its entry and opens two channels there. */
  private void succeed(HostFixture fixture, ShmGuest left) throws Exception {
    left.detach(Duration.ZERO);
    next(guests.gone);
    fixture.loop.call(() -> true); // the entry becomes free after the notice
    successor = walkIn(fixture);
    assertThat(successor.peerId()).isEqualTo(left.peerId());
    assertThat(opened(successor).id()).isEqualTo(1);
    assertThat(opened(successor).id()).isEqualTo(3);
  }

  private static byte[] table(HostFixture fixture) {
    Segment segment = fixture.host().segment();
    SegmentLayout layout = segment.layout();
    return segment
        .memory()
        .mapping()
        .asSlice(layout.channelTable(1), layout.channelTableBytes())
        .toArray(ValueLayout.JAVA_BYTE);
  }

  /**
   * The messages kept for the guest used to lose track of which life of their channel they belong
   * to.
   */
  // r[verify shm.trust.channels]
  // r[verify shm.death.gone]
  @ParameterizedTest
  @EnumSource
  void aHostStillReadsWhatTheGuestHadSentAndTouchesNothingOfItsSuccessor(Placement placement)
      throws Exception {
    HostFixture hosting = host(placement);
    ShmGuest first = walkIn(hosting);
    guest = first;
    Peer peer = next(guests.come);
    Channel ended = opened(first);
    Channel kept = opened(first);
    send(first, kept);
    Channel in = Objects.requireNonNull(received(peer));
    Channel out = opened(peer);
    send(first, ended);
    end(first, ended);
    succeed(hosting, first);
    byte[] before = table(hosting);

    Channel last = Objects.requireNonNull(received(peer));
    assertThat(last.id()).isEqualTo(ended.id());
    assertThat(message.kind()).isEqualTo(MessageKind.DATA);
    assertThat(received(peer)).isSameAs(last);
    assertThat(message.kind()).isEqualTo(MessageKind.CLOSE);
    assertThat(last.isEnded()).isTrue();
    assertThat(peer.openChannel()).isNull();
    in.grant(9);
    last.grant(9);
    assertThat(peer.end(out, MessageKind.CLOSE, FutexWait.FOREVER)).isEqualTo(SendResult.OVER);
    assertThat(peer.end(in, MessageKind.RESET, FutexWait.FOREVER)).isEqualTo(SendResult.OVER);
    assertThat(table(hosting)).isEqualTo(before);
  }

  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void aGuestThatHasLeftTouchesNothingOfItsSuccessor(Placement placement) throws Exception {
    HostFixture hosting = host(placement);
    ShmGuest first = walkIn(hosting);
    guest = first;
    Peer peer = next(guests.come);
    Channel kept = opened(first);
    send(first, kept);
    received(peer);
    Channel out = opened(peer);
    send(peer, out);
    Channel in = Objects.requireNonNull(received(first));
    end(peer, out);
    assertThat(first.receiveBlocking(message, Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
    succeed(hosting, first);
    byte[] before = table(hosting);

    assertThat(first.channelOf(message)).isSameAs(in);
    assertThat(first.openChannel()).isNull();
    in.grant(9);
    kept.grant(9);
    assertThat(kept.isEnded()).isTrue();
    assertThat(first.send(kept, BYTES, 0, 9, FutexWait.FOREVER)).isEqualTo(SendResult.OVER);
    assertThat(first.end(kept, MessageKind.CLOSE, FutexWait.FOREVER)).isEqualTo(SendResult.OVER);
    assertThat(first.end()).contains(ShmGuest.End.DETACHED);
    assertThat(table(hosting)).isEqualTo(before);
  }
}
