package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ExitStatus;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * C guests are killed at every step of their lives, and at random while both sides send as fast as
 * they can. What they have published arrives exactly once, nothing is left behind, and each notice
 * comes once.
 */
@Timeout(600)
final class CKillTest {
  private static final int RANDOM_KILLS = Boolean.getBoolean("belfry.stress") ? 500 : 20;
  private static final int MAX_LIFE_NANOS = 15_000_000;

  @TempDir private static Path programs;
  private static List<String> stepping;

  private final Notices notices = new Notices();

  @BeforeAll
  static void compile() throws Exception {
    stepping = new CGuests(programs).stepping();
  }

  /** The steps of a guest before it is killed: "step: answer", or a step without an answer. */
  private static Stream<List<String>> lives() {
    return Stream.of(
        List.of(),
        List.of("attach"),
        List.of("attach: attached"),
        List.of("attach: attached", "channel 3: active"),
        List.of("attach: attached", "send 1 9: SENT", "write 500: written"),
        List.of("attach: attached", "send 1 900: SENT", "stage 2 900: staged"),
        List.of("attach: attached", "send 1 9: SENT", "send 2 900: SENT"),
        List.of("attach: attached", "send 1 900: SENT", "wait: waiting"),
        List.of("attach: attached", "send 1 900: SENT", "listen: listening"),
        List.of(
            "attach: attached",
            "send 1 900: SENT",
            "send 2 2: SENT",
            "send 3 900: SENT",
            "block 4 900: blocking"),
        List.of("attach: attached", "send 1 900: SENT", "detach"),
        List.of("attach: attached", "send 1 900: SENT", "goodbye: left"),
        List.of("attach: attached", "detach: detached"));
  }

  static Stream<Arguments> matrix() {
    return Stream.of(Placement.values())
        .flatMap(placement -> lives().map(life -> Arguments.of(placement, life)));
  }

  // r[verify shm.death.recovery]
  // r[verify shm.crash.recovery]
  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("matrix")
  void aGuestIsKilled(Placement placement, List<String> life) throws Exception {
    // No thread fetches its messages, so all of them are in the ring when it dies.
    PeerOptions options = PeerOptions.DEFAULT.withListener(notices);
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest = SteppedGuest.start(fixture.host(), stepping, options)) {
      for (String step : life) {
        String[] parts = step.split(": ", 2);
        guest.say(parts[0]);
        if (parts.length == 2) {
          guest.expect(parts[1]);
        }
        if (step.equals("attach: attached")) {
          fillRing(guest.peer());
        }
      }
      LockSupport.parkNanos(2_000_000); // so that it is in the middle of a step
      guest.kill();
      for (String told = ""; !told.startsWith("gone"); ) {
        told = notices.next();
      }
      fixture.assertAllFree();
      assertThat(received(guest.peer())).isEqualTo(published(placement, life));
      assertThat(notices.all()).filteredOn(it -> it.startsWith("dying")).hasSize(1);
      assertThat(notices.all()).endsWith("gone killed by SIGKILL");
      assertThat(notices.all().size()).isLessThanOrEqualTo(3);
    }
  }

  /** Host slots in flight to the dead guest. */
  private static void fillRing(Peer peer) {
    assertThat(peer.awaitAttached(Sides.inMillis(TestProcess.PATIENCE.toMillis())))
        .isEqualTo(Awaited.READY);
    for (int i = 0; i < 3; i++) {
      byte[] bytes = Sides.payload(900, i);
      assertThat(peer.send(MessageKind.REQUEST, i, 0, bytes, 0, bytes.length))
          .isEqualTo(SendResult.SENT);
    }
  }

  private static List<String> received(Peer peer) {
    var all = new ArrayList<String>();
    var message = new Message();
    while (peer.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
      assertThat(message.toByteArray())
          .isEqualTo(Sides.payload(message.length(), (int) message.id()));
      all.add("%d %d".formatted(message.id(), message.length()));
    }
    return all;
  }

  private static List<String> published(Placement placement, List<String> life) {
    // In the padded placement the mark of the descriptor counts, which is written before the head.
    String counts = placement == Placement.PADDED ? "(send|stage) .*" : "send .*";
    return life.stream()
        .filter(step -> step.matches(counts))
        .map(step -> step.substring(step.indexOf(' ') + 1, step.indexOf(':')))
        .toList();
  }

  /** Checks one guest under load: its messages on the loop, its end, and what it had published. */
  private static final class Load implements PeerListener, MessageHandler {
    private final ShmHost host;
    private final CountDownLatch gone = new CountDownLatch(1);
    private final List<String> told = new ArrayList<>();
    private int delivered;
    private long published;
    private @Nullable String wrong;

    Load(ShmHost host) {
      this.host = host;
    }

    static int length(int number) {
      return number * 37 % 1000;
    }

    @Override
    public void onMessage(Peer peer, Message message) {
      byte[] expected = Sides.payload(length(delivered), delivered);
      if (message.id() != delivered || !Arrays.equals(message.toByteArray(), expected)) {
        wrong = "%s after %d others".formatted(message, delivered);
      }
      delivered++;
    }

    @Override
    public void onAttached(Peer peer) {
      told.add("attached");
    }

    @Override
    public void onDying(Peer peer, Witness witness) {
      told.add("dying");
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus status) {
      told.add("gone " + status);
      published = SegmentSnapshot.of(host.segment()).peers().getFirst().toHost().head();
      gone.countDown();
    }

    /** Sends until the guest is dead. */
    void sendTo(Peer peer) {
      SendResult result = SendResult.SENT;
      for (int i = 0; result == SendResult.SENT; i++) {
        byte[] bytes = Sides.payload(length(i), i);
        result =
            peer.sendBlocking(
                MessageKind.REQUEST, i, 0, bytes, 0, bytes.length, Sides.inMillis(60_000));
      }
      assertThat(result).isEqualTo(SendResult.OVER);
    }
  }

  @ParameterizedTest
  @EnumSource
  void guestsAreKilledAtRandomUnderLoad(Placement placement) throws Exception {
    long seed = 20261116L + placement.version();
    var random = new Random(seed);
    long messages = 0;
    try (HostFixture fixture = HostFixture.of(placement)) {
      for (int i = 0; i < RANDOM_KILLS; i++) {
        messages +=
            killUnderLoad(
                fixture,
                random.nextInt(MAX_LIFE_NANOS),
                placement == Placement.PADDED,
                "kill %d of seed %d".formatted(i, seed));
      }
    }
    assertThat(messages).isGreaterThan(RANDOM_KILLS); // otherwise there was no load
    System.out.printf(
        "%s: %d guests in C killed at random, %d messages of theirs delivered%n",
        placement, RANDOM_KILLS, messages);
  }

  private static int killUnderLoad(HostFixture fixture, long nanos, boolean padded, String which)
      throws Exception {
    var load = new Load(fixture.host());
    PeerOptions options = PeerOptions.DEFAULT.withListener(load).withHandler(load);
    try (SteppedGuest guest = SteppedGuest.start(fixture.host(), stepping, options)) {
      guest.say("attach");
      guest.say("load");
      Thread killer = Thread.ofPlatform().start(() -> killAfter(guest, nanos));
      load.sendTo(guest.peer());
      killer.join();
      assertThat(load.gone.await(30, TimeUnit.SECONDS)).isTrue();
      fixture.assertAllFree();
      assertThat(load.wrong).as(which).isNull();
      boolean came = load.told.contains("attached");
      assertThat(load.told)
          .as(which)
          .containsExactlyElementsOf(
              came
                  ? List.of("attached", "dying", "gone killed by SIGKILL")
                  : List.of("dying", "gone killed by SIGKILL"));
      long mark = padded ? 1 : 0;
      assertThat((long) load.delivered).as(which).isBetween(load.published, load.published + mark);
      return load.delivered;
    }
  }

  private static void killAfter(SteppedGuest guest, long nanos) {
    LockSupport.parkNanos(nanos);
    try {
      guest.kill();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
