package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** As many guests as possible, four of them in Java and the rest in C. */
@Timeout(300)
final class CrowdTest {
  private static final int GUESTS = 255;
  private static final int IN_JAVA = 4;

  private static final SegmentConfig CONFIG =
      SegmentConfig.DEFAULT
          .withMaxGuests(GUESTS)
          .withRingSize(4)
          .withSlots(2, 256)
          .withChannels(4, 1000);

  @TempDir private static Path programs;

  /** Counts the notices for each guest. */
  private static final class Counts implements PeerListener, MessageHandler {
    final CountDownLatch answers = new CountDownLatch(GUESTS);
    final CountDownLatch gone = new CountDownLatch(GUESTS);
    final AtomicIntegerArray dying = new AtomicIntegerArray(GUESTS + 1);
    final AtomicInteger endings = new AtomicInteger();

    @Override
    public void onMessage(Peer peer, Message message) {
      if (message.id() == peer.id() && message.length() == 200) {
        answers.countDown();
      }
    }

    @Override
    public void onDying(Peer peer, Witness witness) {
      dying.incrementAndGet(peer.id());
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus status) {
      endings.incrementAndGet();
      gone.countDown();
    }
  }

  // r[verify shm.topology.max-guests]
  // r[verify shm.guest.attach-failure]
  @ParameterizedTest
  @EnumSource
  void allDeathsAreNoticedAndOneGuestMoreIsRefused(Placement placement) throws Exception {
    var counts = new Counts();
    PeerOptions options = PeerOptions.DEFAULT.withListener(counts).withHandler(counts);
    List<String> echo = new CGuests(programs).echo();
    var stepped = new ArrayList<SteppedGuest>();
    try (HostFixture fixture =
        HostFixture.of(HostOptions.DEFAULT.withPlacement(placement).withConfig(CONFIG))) {
      ShmHost host = fixture.host();
      for (int i = 0; i < IN_JAVA; i++) {
        SteppedGuest guest = SteppedGuest.attached(host, options);
        guest.step("echo", "echoing");
        stepped.add(guest);
      }
      while (host.peers().size() < GUESTS) {
        host.spawn(echo, host.addPeer(options));
      }
      for (Peer peer : host.peers()) {
        assertThat(peer.awaitAttached(Sides.inMillis(60_000))).isEqualTo(Awaited.READY);
      }
      assertOneMoreIsRefused(fixture, echo.getFirst(), options);
      for (Peer peer : host.peers()) {
        byte[] bytes = Sides.payload(200, peer.id());
        peer.sendBlocking(MessageKind.DATA, peer.id(), 0, bytes, 0, 200, Sides.inMillis(60_000));
      }
      assertThat(counts.answers.await(60, TimeUnit.SECONDS)).isTrue();
      long killed = System.nanoTime();
      for (Peer peer : host.peers()) {
        Processes.kill(Sys.forAnyThread(), peer.pid().orElseThrow(), Signo.KILL);
      }
      assertThat(counts.gone.await(60, TimeUnit.SECONDS)).isTrue();
      System.out.printf(
          "%s: %d guests killed, all gone after %d ms%n",
          placement, GUESTS, (System.nanoTime() - killed) / 1_000_000);
      fixture.assertAllFree();
      for (int id = 1; id <= GUESTS; id++) {
        assertThat(counts.dying.get(id)).as("guest %d", id).isOne();
      }
      assertThat(counts.endings).hasValue(GUESTS);
      host.addPeer(options).close(); // there is room again
      for (SteppedGuest guest : stepped) {
        guest.close();
      }
    }
  }

  private static void assertOneMoreIsRefused(HostFixture fixture, String echo, PeerOptions options)
      throws Exception {
    assertThatThrownBy(() -> fixture.host().addPeer(options))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("no free peer entry, all 255 are taken");
    Path path =
        Path.of(
            "/proc/%d/fd/%d"
                .formatted(ProcessHandle.current().pid(), fixture.host().segment().descriptor()));
    try (TestProcess guest = TestProcess.start(echo, "--hub-path=" + path)) {
      assertThat(guest.line()).contains("no free peer entry, all 255 are taken");
      assertThat(guest.exitCode()).isOne();
    }
  }
}
