package dev.belfry.shm;

import static dev.belfry.shm.SendResult.OVER;
import static dev.belfry.shm.SendResult.SENT;
import static dev.belfry.shm.SendResult.TIMEOUT;
import static dev.belfry.shm.SendResult.TOO_LARGE;
import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.inMillis;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.nio.file.Path;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Senders that wait for credit (a new channel has 100 bytes) and receivers that grant it. */
@Timeout(180)
final class ChannelCreditTest {
  @TempDir private Path directory;

  private final Message message = new Message();

  private static Channel opened(Link link) {
    return Objects.requireNonNull(link.channels().open());
  }

  /** Receives one message on a channel. */
  private Channel received(Link link) {
    assertThat(link.inbox().receive(message)).isTrue();
    return Objects.requireNonNull(link.channels().of(message));
  }

  /** The guest's end of a channel whose credit is used up. */
  private static Channel exhausted(Sides sides) {
    Channel out = opened(sides.toHost);
    assertThat(out.send(new byte[100], 0, 100)).isEqualTo(SENT);
    return out;
  }

  private static Sleeper<SendResult> sending(Channel out) throws Exception {
    return Sleeper.start(() -> out.send(new byte[100], 0, 100, FutexWait.FOREVER));
  }

  // r[verify shm.wakeup.credit-wait]
  // r[verify shm.flow.zero-credit]
  // r[verify shm.wakeup.wakes]
  @ParameterizedTest
  @EnumSource
  void aSenderWithoutCreditGoesOnAfterEnoughGrants(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG)) {
      Channel out = exhausted(sides);
      out.sleepAtMost(Sleeper.NEVER_NANOS);
      Channel in = received(sides.toGuest);
      assertThat(in.wakeSenders()).isZero();
      Sleeper<SendResult> waiting = sending(out);
      in.grant(50);
      assertThat(waiting.isDone()).isFalse();
      in.grant(50);
      assertThat(waiting.get()).isEqualTo(SENT);
      assertThat(out.send(new byte[1], 0, 1, inMillis(20))).isEqualTo(TIMEOUT);
      assertThat(out.send(new byte[101], 0, 101)).isEqualTo(TOO_LARGE);
      assertThatIllegalArgumentException().isThrownBy(() -> out.awaitCredit(101, inMillis(60_000)));
    }
  }

  /** How the receiver of the data can end a sender's wait. */
  enum End {
    CLOSE,
    RESET,
    GOODBYE
  }

  // r[verify shm.flow.zero-credit]
  @ParameterizedTest
  @EnumSource
  void aSenderThatWaitsForCreditIsToldOfTheEnd(End end) throws Exception {
    for (Placement placement : Placement.values()) {
      try (Sides sides = Sides.of(placement, CONFIG)) {
        Channel out = exhausted(sides);
        Channel in = received(sides.toGuest);
        Sleeper<SendResult> waiting = sending(out);
        switch (end) {
          case CLOSE, RESET ->
              assertThat(in.end(MessageKind.valueOf(end.name()), inMillis(1000))).isEqualTo(SENT);
          case GOODBYE -> sides.host.sayGoodbye();
        }
        assertThat(waiting.get()).isEqualTo(OVER);
      }
    }
  }

  // r[verify shm.flow.zero-credit]
  @ParameterizedTest
  @EnumSource
  void aSenderThatWaitsForCreditIsToldThatTheReceiverWasKilled(Placement placement)
      throws Exception {
    var notices = new Notices();
    SegmentConfig config = HostFixture.CONFIG.withChannels(8, 100);
    HostOptions options = HostOptions.DEFAULT.withPlacement(placement).withConfig(config);
    try (HostFixture fixture = HostFixture.of(options);
        SteppedGuest guest = SteppedGuest.attached(fixture.host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("send 1 1", "SENT"); // from now on the host may open channels, too
      assertThat(notices.next()).isEqualTo("message 1 1");
      Peer peer = guest.peer();
      Channel out = Objects.requireNonNull(peer.openChannel());
      assertThat(peer.send(out, new byte[100], 0, 100, inMillis(30_000))).isEqualTo(SENT);
      Sleeper<SendResult> waiting =
          Sleeper.start(() -> peer.send(out, new byte[100], 0, 100, inMillis(60_000)));
      guest.kill();
      assertThat(waiting.get()).isEqualTo(OVER);
      notices.expectDying();
      assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      fixture.assertAllFree();
    }
  }

  /** A grant that comes too late, which cannot be avoided, finds the channel ended. */
  // r[verify shm.flow.reset]
  @ParameterizedTest
  @EnumSource
  void afterAResetAtFullSpeedNobodyTouchesTheCounter(Placement placement) throws Exception {
    try (Sides sides = Sides.of(placement, CONFIG.withChannels(2, 100))) {
      for (int life = 0; life < 50; life++) {
        Channel out = reopened(sides.toHost);
        var lateGrants = new AtomicInteger();
        var over = new AtomicBoolean();
        int messages = life % 7 + 1;
        Callable<Boolean> resetting = () -> resetAfter(messages, sides.toGuest, lateGrants, over);
        var receiving = new FutureTask<>(resetting);
        Thread.ofPlatform().daemon().start(receiving);
        while (out.send(new byte[5], 0, 5) != OVER) {
          Thread.onSpinWait();
        }
        assertThat(sides.toHost.inbox().receive(message, inMillis(60_000)))
            .isEqualTo(Awaited.READY);
        assertThat(sides.toHost.channels().of(message)).isSameAs(out);
        int counter = word(sides, sides.host.layout().channelGranted(1, out.id()));
        int before = lateGrants.get();
        while (lateGrants.get() - before < 100 && !receiving.isDone()) {
          assertThat(word(sides, sides.host.layout().channelState(1, out.id())))
              .isEqualTo(Channels.FREE);
          assertThat(word(sides, sides.host.layout().channelGranted(1, out.id())))
              .as("life %d", life)
              .isEqualTo(counter);
        }
        over.set(true);
        assertThat(receiving.get(60, TimeUnit.SECONDS)).isTrue();
        assertThat(word(sides, sides.host.layout().channelGranted(1, out.id()))).isEqualTo(counter);
      }
    }
  }

  private static int word(Sides sides, long offset) {
    return sides.bytes().get(JAVA_INT, offset);
  }

  /** Reopens the only id, once the peer has read all of its last life. */
  private static Channel reopened(Link link) {
    long deadline = inMillis(60_000);
    Channel channel = link.channels().open();
    while (channel == null) {
      assertThat(System.nanoTime() - deadline).as("time until it is free").isNegative();
      channel = link.channels().open();
    }
    return channel;
  }

  /** Consumes some messages, ends the channel, and goes on reading and granting. */
  private static boolean resetAfter(
      int messages, Link link, AtomicInteger lateGrants, AtomicBoolean over) {
    var scratch = new Message();
    Channel in = null;
    for (int i = 0; i < messages; i++) {
      assertThat(link.inbox().receive(scratch, inMillis(60_000))).isEqualTo(Awaited.READY);
      in = Objects.requireNonNull(link.channels().of(scratch));
      in.grant(scratch.length());
    }
    Channel ended = Objects.requireNonNull(in);
    assertThat(ended.end(MessageKind.RESET, inMillis(60_000))).isEqualTo(SENT);
    while (!over.get()) {
      ended.grant(5);
      lateGrants.incrementAndGet();
    }
    while (link.inbox().receive(scratch)) {
      assertThat(link.channels().of(scratch)).isNull();
    }
    return true;
  }

  // r[verify shm.flow.ordering.receiver]
  // r[verify shm.flow.ordering.sender]
  @ParameterizedTest
  @EnumSource
  void whoWaitsForCreditNeverOverwritesWhatWasNotConsumed(Placement placement) throws Exception {
    int count = Boolean.getBoolean("belfry.stress") ? 2_000_000 : 50_000;
    Path path = directory.resolve("hub");
    try (Segment host = Segment.create(Sys.forAnyThread(), path, placement, BorrowedBuffer.CONFIG);
        TestProcess guest =
            TestProcess.java(
                GuestProgram.class, "borrow", path.toString(), "ADAPTIVE", "futex", "" + count)) {
      assertThat(guest.line()).isEqualTo("attached");
      new BorrowedBuffer(Link.toGuest(host, 1, WaitStrategy.ADAPTIVE)).consume(count);
      assertThat(guest.line()).isEqualTo("done");
    }
  }
}
