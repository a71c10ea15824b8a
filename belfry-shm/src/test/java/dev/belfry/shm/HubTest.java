package dev.belfry.shm;

import static dev.belfry.shm.Sides.payload;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** One host and several guests, all of which talk at the same time. */
@Timeout(300)
final class HubTest {
  private static final int GUESTS = 4;
  private static final int MESSAGES = 500;

  @TempDir private Path directory;

  /** What a guest sends back: an id that names the guest, and bytes that follow from the id. */
  private static final class Echoes implements MessageHandler {
    private final int[] counts = new int[GUESTS + 1];
    private final CountDownLatch all = new CountDownLatch(GUESTS * MESSAGES);
    private volatile @Nullable String wrong;

    private static int id(int peer, int number) {
      return peer * MESSAGES + number;
    }

    private static byte[] bytes(int id) {
      return payload(id * 37 % 1000, id);
    }

    @Override
    public void onMessage(Peer peer, Message message) {
      int expected = id(peer.id(), counts[peer.id()]++);
      if (message.id() != expected || !Arrays.equals(bytes(expected), message.toByteArray())) {
        wrong = "%s from %s instead of %d".formatted(message, peer, expected);
      }
      all.countDown();
    }

    boolean sendTo(Peer peer) {
      for (int i = 0; i < MESSAGES; i++) {
        int id = id(peer.id(), i);
        byte[] bytes = bytes(id);
        SendResult sent =
            peer.sendBlocking(
                MessageKind.REQUEST, id, 0, bytes, 0, bytes.length, Sides.inMillis(60_000));
        assertThat(sent).isEqualTo(SendResult.SENT);
      }
      return true;
    }
  }

  /** If a guest saw a message of another, it would send that back as its own. */
  // r[verify shm.topology.hub]
  // r[verify shm.topology.hub.communication]
  @ParameterizedTest
  @EnumSource
  void fourGuestsThatTalkAtOnceAreKeptApart(Placement placement) throws Exception {
    List<String> inC = new CGuests(directory).stepping();
    SegmentConfig config = HostFixture.CONFIG.withMaxGuests(GUESTS).withSlots(8, 1032);
    var echoes = new Echoes();
    var guests = new ArrayList<SteppedGuest>();
    try (HostFixture fixture =
        HostFixture.of(HostOptions.DEFAULT.withPlacement(placement).withConfig(config))) {
      for (int i = 0; i < GUESTS; i++) {
        List<String> command = i % 2 == 0 ? SteppedGuest.JAVA : inC;
        PeerOptions options = PeerOptions.DEFAULT.withHandler(echoes);
        guests.add(SteppedGuest.attached(fixture.host(), command, options));
        guests.get(i).step("echo", "echoing");
      }
      var sending = new ArrayList<FutureTask<Boolean>>();
      for (SteppedGuest guest : guests) {
        sending.add(new FutureTask<>(() -> echoes.sendTo(guest.peer())));
        Thread.ofPlatform().daemon().start(sending.getLast());
      }
      for (FutureTask<Boolean> each : sending) {
        assertThat(each.get(240, TimeUnit.SECONDS)).isTrue();
      }
      assertThat(echoes.all.await(TestProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
      assertThat(echoes.wrong).isNull();
      for (SteppedGuest guest : guests) {
        guest.kill();
        guest.close();
      }
    }
  }

  /** Both have the same id, which belongs to whoever asks. */
  // r[verify shm.topology.hub.calls]
  @ParameterizedTest
  @EnumSource
  void requestsThatCrossEachOtherAreBothAnswered(Placement placement) throws IOException {
    var message = new Message();
    try (Sides sides = Sides.of(placement, Sides.CONFIG)) {
      List<Link> both = List.of(sides.toHost, sides.toGuest);
      for (Link side : both) {
        assertThat(Sides.send(side, 7, question(side))).isEqualTo(SendResult.SENT);
      }
      for (Link side : both) {
        assertThat(side.inbox().receive(message)).isTrue();
        assertThat(message.kind()).isEqualTo(MessageKind.REQUEST);
        byte[] answer = message.toByteArray();
        assertThat(side.outbox().send(MessageKind.RESPONSE, 7, 0, answer, 0, answer.length))
            .isEqualTo(SendResult.SENT);
      }
      for (Link side : both) {
        assertThat(side.inbox().receive(message)).isTrue();
        assertThat(message.kind()).isEqualTo(MessageKind.RESPONSE);
        assertThat(message.id()).isEqualTo(7);
        assertThat(message.toByteArray()).isEqualTo(question(side));
        assertThat(side.inbox().receive(message)).isFalse();
      }
    }
  }

  private static byte[] question(Link side) {
    return payload(100, side.isHost() ? 1 : 2);
  }
}
