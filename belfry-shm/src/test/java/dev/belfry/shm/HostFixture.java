package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.Backend;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A loop with a host. Closing it checks that nothing is left: no descriptor, no child, and in the
 * segment all entries, slots and channels are free.
 */
final class HostFixture implements AutoCloseable {
  static final SegmentConfig CONFIG =
      SegmentConfig.DEFAULT.withMaxGuests(2).withRingSize(4).withSlots(4, 1032);

  final SysTap tap = SysTap.over(Sys.forAnyThread());
  final RunningLoop loop;
  private final Descriptors before;
  private final long childrenBefore;
  private @Nullable ShmHost host;

  HostFixture() throws IOException {
    this(Backend.EPOLL);
  }

  HostFixture(Backend backend) throws IOException {
    Lifeline.get(Sys.forAnyThread()); // lives as long as the process
    before = Descriptors.now();
    childrenBefore = children();
    loop = RunningLoop.start(backend);
  }

  static HostFixture of(Placement placement) throws IOException {
    return of(HostOptions.DEFAULT.withPlacement(placement).withConfig(CONFIG));
  }

  static HostFixture of(HostOptions options) throws IOException {
    var fixture = new HostFixture();
    fixture.open(options);
    return fixture;
  }

  /** With a heartbeat interval of three seconds. */
  static HostFixture beating() throws IOException {
    var beating = new SegmentConfig(1020, 100, 2, 4, 1024, 4, 8, 3_000_000_000L);
    return of(HostOptions.DEFAULT.withConfig(beating));
  }

  ShmHost open(HostOptions options) throws IOException {
    host = ShmHost.create(loop.loop(), options.withSystemCalls(tap.sys()));
    return host;
  }

  ShmHost host() {
    if (host == null) {
      throw new IllegalStateException("no host yet");
    }
    return host;
  }

  /** The path under which this process finds the host's segment. */
  Path path() {
    return Path.of("/proc/self/fd/" + host().segment().descriptor());
  }

  /** Keeps the loop, and so the host, from looking at anything until the latch is released. */
  CountDownLatch distract() throws InterruptedException {
    var begun = new CountDownLatch(1);
    var over = new CountDownLatch(1);
    Runnable distraction =
        () -> {
          begun.countDown();
          try {
            over.await(TestProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS);
          } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
          }
        };
    loop.loop().scheduler().execute(distraction);
    begun.await();
    return over;
  }

  /** Stops the first guest until it is missed, continues it, and kills it in the end. */
  void assertBeatsAsSoonAsItGoesOn(SteppedGuest guest, Notices notices) throws Exception {
    assertThat(notices.next()).isEqualTo("attached");
    guest.signal(Signo.STOP);
    assertThat(notices.next()).isEqualTo("stuck");
    long last = beatOtherThan(0);
    long goesOn = System.nanoTime();
    guest.signal(Signo.CONT);
    assertThat(beatOtherThan(last) - goesOn).isLessThan(1_000_000_000);
    guest.kill();
  }

  /**
   * Waits for a heartbeat of the first guest other than the known one, until the test times out.
   */
  long beatOtherThan(long known) {
    long beat = known;
    while (beat == known) {
      beat = SegmentSnapshot.of(host().segment()).peers().getFirst().heartbeatNanos();
    }
    return beat;
  }

  private static long children() {
    return ProcessHandle.current().children().count();
  }

  /** Waits until the loop is done, and checks that all entries are as new. */
  void assertAllFree() throws Exception {
    loop.call(() -> true);
    SegmentSnapshot snapshot = SegmentSnapshot.of(host().segment());
    int slots = host().segment().config().slotsPerGuest();
    assertThat(snapshot.hostFreeSlots()).isEqualTo(slots);
    for (SegmentSnapshot.Peer peer : snapshot.peers()) {
      assertThat(peer.state()).isEqualTo("EMPTY");
      assertThat(peer.freeSlots()).isEqualTo(slots);
      assertThat(peer.channels()).isEmpty();
      assertThat(peer.toHost().depth() + peer.toGuest().depth()).isZero();
    }
  }

  @Override
  public void close() throws IOException {
    if (host != null) {
      host.close();
    }
    loop.close();
    assertThat(before.openedSince()).isEmpty();
    assertThat(children()).isEqualTo(childrenBefore);
  }
}
