package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ExitStatus;
import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Guests are killed at every step of their lives, and at random under load in both directions: what
 * they have published arrives exactly once, and nothing is left behind.
 */
@Timeout(600)
final class KillMatrixTest {
  private static final boolean STRESS = Boolean.getBoolean("belfry.stress");
  private static final int RANDOM_KILLS = STRESS ? 100 : 10;

  private final Notices notices = new Notices();

  /**
   * A step in a guest's life.
   *
   * @param name where it has got to
   * @param steps what it does, once started, until it is killed
   * @param delivered what it has published by then
   */
  record Step(String name, List<String> steps, List<String> delivered) {
    @Override
    public String toString() {
      return name;
    }
  }

  private static final List<Step> STEPS =
      List.of(
          new Step("before attach", List.of(), List.of()),
          new Step("attached", List.of("attach"), List.of()),
          new Step("mid-write of a slot", List.of("attach", "send 1 9", "write 500"), List.of("1")),
          new Step("published", List.of("attach", "send 1 9", "send 2 900"), List.of("1", "2")),
          new Step("waiting", List.of("attach", "send 1 900", "wait"), List.of("1")),
          new Step(
              "blocked",
              List.of("attach", "send 1 900", "send 2 2", "send 3 900", "block 4 4"),
              List.of("1", "2", "3")),
          new Step("left", List.of("attach", "send 1 900", "goodbye"), List.of("1")),
          new Step("detached", List.of("attach", "send 1 900", "detach"), List.of("1")));

  static Stream<Arguments> matrix() {
    return Stream.of(Placement.values())
        .flatMap(placement -> STEPS.stream().map(step -> Arguments.of(placement, step)));
  }

  // r[verify shm.death.recovery]
  // r[verify shm.crash.recovery]
  @ParameterizedTest(name = "{0} {1}")
  @MethodSource("matrix")
  void aGuestIsKilled(Placement placement, Step step) throws Exception {
    try (HostFixture fixture = HostFixture.of(placement);
        SteppedGuest guest =
            SteppedGuest.start(fixture.host(), SteppedGuest.JAVA, notices.options())) {
      for (String line : step.steps()) {
        take(fixture, guest, line);
      }
      guest.kill();
      letGo.countDown();
      String told = "";
      while (!told.startsWith("gone")) {
        told = notices.next();
      }
      assertThat(told).isEqualTo("gone killed by SIGKILL");
      assertThat(messages()).isEqualTo(step.delivered());
      assertThat(notices.all().stream().filter(it -> it.startsWith("dying"))).hasSize(1);
      fixture.assertAllFree();
    }
  }

  /** Ends the pause of the loop during which the guest's messages stay unread. */
  private final CountDownLatch letGo = new CountDownLatch(1);

  private void take(HostFixture fixture, SteppedGuest guest, String line) throws Exception {
    String word = line.split(" ", 2)[0];
    switch (word) {
      case "attach" -> {
        guest.step(line, "attached");
        assertThat(guest.peer().awaitAttached(FutexWait.FOREVER)).isEqualTo(Awaited.READY);
        for (int i = 0; i < 3; i++) { // host slots in flight to the dead guest
          byte[] bytes = Sides.payload(900, i);
          assertThat(guest.peer().send(MessageKind.REQUEST, i, 0, bytes, 0, bytes.length))
              .isEqualTo(SendResult.SENT);
        }
        pauseLoop(fixture);
      }
      case "send" -> guest.step(line, "SENT");
      case "block" -> guest.step(line, "blocking");
      case "wait" -> {
        for (int i = 0; i < 3; i++) {
          guest.step("wait", "waiting");
          guest.expect("REQUEST %d 900".formatted(i));
        }
        guest.step("wait", "waiting");
      }
      case "write" -> guest.step(line, "written");
      case "goodbye" -> guest.step(line, "left");
      case "detach" -> {
        letGo.countDown(); // it waits until its message is read
        guest.step(line, "detached");
      }
      default -> throw new IllegalArgumentException(line);
    }
  }

  private void pauseLoop(HostFixture fixture) throws InterruptedException {
    var paused = new CountDownLatch(1);
    fixture
        .loop
        .loop()
        .scheduler()
        .execute(
            () -> {
              paused.countDown();
              try {
                assertThat(letGo.await(60, TimeUnit.SECONDS)).isTrue();
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            });
    paused.await();
  }

  private List<String> messages() {
    return notices.all().stream()
        .filter(it -> it.startsWith("message"))
        .map(it -> it.split(" ", 3)[1])
        .toList();
  }

  /**
   * Counts echoes, which must arrive in order and intact, and compares them with what was
   * published.
   */
  private static final class Echoes implements PeerListener, MessageHandler {
    private final ShmHost host;
    private final CountDownLatch gone = new CountDownLatch(1);
    private int count;
    private int dying;
    private int published;
    private @Nullable String wrong;

    Echoes(ShmHost host) {
      this.host = host;
    }

    @Override
    public void onMessage(Peer peer, Message message) {
      byte[] expected = Sides.payload(message.length(), (int) message.id());
      if (message.id() != count || !Arrays.equals(message.toByteArray(), expected)) {
        wrong = "%s after %d others".formatted(message, count);
      }
      count++;
    }

    @Override
    public void onDying(Peer peer, Witness witness) {
      dying++;
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus status) {
      Segment segment = host.segment();
      long head = segment.layout().head(peer.id(), Direction.TO_HOST);
      published = segment.memory().mapping().get(ValueLayout.JAVA_INT, head);
      gone.countDown();
    }
  }

  @ParameterizedTest
  @EnumSource
  void guestsAreKilledAtRandomUnderLoad(Placement placement) throws Exception {
    var random = new Random(placement.version());
    try (HostFixture fixture = HostFixture.of(placement)) {
      for (int i = 0; i < RANDOM_KILLS; i++) {
        killUnderLoad(fixture, random.nextInt(20_000_000), placement);
      }
    }
  }

  private static void killUnderLoad(HostFixture fixture, long nanos, Placement placement)
      throws Exception {
    var echoes = new Echoes(fixture.host());
    PeerOptions options = PeerOptions.DEFAULT.withListener(echoes).withHandler(echoes);
    try (SteppedGuest guest = SteppedGuest.attached(fixture.host(), options)) {
      guest.step("echo", "echoing");
      Thread killer =
          Thread.ofPlatform()
              .start(
                  () -> {
                    LockSupport.parkNanos(nanos);
                    try {
                      guest.kill();
                    } catch (IOException e) {
                      throw new AssertionError(e);
                    }
                  });
      int sent = 0;
      SendResult result = SendResult.SENT;
      while (result == SendResult.SENT) {
        byte[] bytes = Sides.payload(sent * 37 % 1000, sent);
        result =
            guest
                .peer()
                .sendBlocking(
                    MessageKind.REQUEST, sent, 0, bytes, 0, bytes.length, Sides.inMillis(30_000));
        sent++;
      }
      assertThat(result).isEqualTo(SendResult.OVER);
      killer.join(Duration.ofSeconds(30));
      assertThat(echoes.gone.await(30, TimeUnit.SECONDS)).isTrue();
      fixture.assertAllFree();
      assertThat(echoes.wrong).isNull();
      assertThat(echoes.dying).isOne();
      // In the padded placement the mark of the descriptor counts, which is written before the
      // head.
      int marked = placement == Placement.PADDED ? 1 : 0;
      assertThat(echoes.count).isBetween(echoes.published, echoes.published + marked);
      assertThat(echoes.count).isLessThanOrEqualTo(sent);
    }
  }
}
