package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ExitStatus;
import dev.belfry.testkit.TestProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** How much earlier than the process itself the mutex of a large guest reports its death. */
@Timeout(300)
@EnabledIfSystemProperty(named = "belfry.stress", matches = "true")
final class WitnessSpeedTest {
  private static final int KILLS = 15;

  /** When a guest was known to be dying, and when to be gone. */
  private static final class Times implements PeerListener {
    private final CompletableFuture<Long> dying = new CompletableFuture<>();
    private final CompletableFuture<Long> gone = new CompletableFuture<>();

    @Override
    public void onDying(Peer peer, Witness witness) {
      dying.complete(System.nanoTime());
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus status) {
      gone.complete(System.nanoTime());
    }
  }

  private static long median(List<Long> values) {
    return values.stream().sorted().skip(values.size() / 2).findFirst().orElseThrow();
  }

  // r[verify shm.death.detection-methods]
  @Test
  void theDeathOfALargeGuestIsKnownLongBeforeTheKernelHasFreedItsMemory() throws Exception {
    var command = new ArrayList<>(TestProcess.javaCommand(SteppingGuest.class));
    command.addAll(1, List.of("-Xms1g", "-Xmx1g", "-XX:+AlwaysPreTouch"));
    var toNotice = new ArrayList<Long>();
    var toEnd = new ArrayList<Long>();
    try (HostFixture fixture = HostFixture.of(Placement.PADDED)) {
      for (int i = 0; i < KILLS; i++) {
        var times = new Times();
        PeerOptions options = PeerOptions.DEFAULT.withListener(times);
        try (SteppedGuest guest = SteppedGuest.attached(fixture.host(), command, options)) {
          long killed = System.nanoTime();
          guest.kill();
          toNotice.add(times.dying.get(60, TimeUnit.SECONDS) - killed);
          toEnd.add(times.gone.get(60, TimeUnit.SECONDS) - killed);
        }
      }
    }
    System.out.printf(
        "of %d guests with 1 GiB the median death was known after %d us, its end after %d us%n",
        KILLS, median(toNotice) / 1000, median(toEnd) / 1000);
    assertThat(median(toNotice)).isLessThan(median(toEnd) / 10);
  }
}
