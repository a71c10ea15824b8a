package dev.belfry.shm;

import static dev.belfry.shm.SendResult.NO_CREDIT;
import static dev.belfry.shm.SendResult.OVER;
import static dev.belfry.shm.SendResult.SENT;
import static dev.belfry.shm.SendResult.TIMEOUT;
import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.inMillis;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Channels and their credit; a new channel has 100 bytes. */
final class ChannelTest {
  private final Message message = new Message();
  private Sides sides;

  @BeforeEach
  void open() throws IOException {
    sides = Sides.of(Placement.V1, CONFIG.withRingSize(32));
  }

  @AfterEach
  void close() throws IOException {
    sides.close();
  }

  private void use(Placement placement) throws IOException {
    sides.close();
    sides = Sides.of(placement, CONFIG.withRingSize(32));
  }

  private static Channel opened(Link link) {
    return Objects.requireNonNull(link.channels().open());
  }

  private static SendResult send(Channel channel, int length) {
    return channel.send(new byte[length], 0, length);
  }

  /** Receives one message on a channel. */
  private Channel received(Link link) {
    assertThat(link.inbox().receive(message)).isTrue();
    return Objects.requireNonNull(link.channels().of(message));
  }

  private int granted(int id) {
    return sides.bytes().get(JAVA_INT, sides.host.layout().channelGranted(1, id));
  }

  private void forgeGranted(int id, int value) {
    sides.bytes().set(JAVA_INT, sides.host.layout().channelGranted(1, id), value);
  }

  private int state(int id) {
    return sides.bytes().get(JAVA_INT, sides.host.layout().channelState(1, id));
  }

  // r[verify shm.flow.initial]
  // r[verify shm.flow.remaining-credit]
  // r[verify shm.flow.granted-total]
  // r[verify shm.flow.counter-per-channel]
  @ParameterizedTest
  @EnumSource
  void aSenderSendsNoMoreThanItWasGranted(Placement placement) throws IOException {
    use(placement);
    Channel out = opened(sides.toHost);
    assertThat(send(out, 60)).isEqualTo(SENT);
    assertThat(out.remainingCredit()).isEqualTo(40);
    assertThat(send(out, 41)).isEqualTo(NO_CREDIT);
    assertThat(send(out, 40)).isEqualTo(SENT);
    assertThat(send(out, 1)).isEqualTo(NO_CREDIT);

    Channel in = received(sides.toGuest);
    in.grant(message.length());
    assertThat(granted(out.id())).isEqualTo(160);
    assertThat(out.remainingCredit()).isEqualTo(60);

    Channel other = opened(sides.toHost);
    assertThat(other.id()).isEqualTo(3);
    assertThat(other.remainingCredit()).isEqualTo(100);
  }

  // r[verify shm.bytes.what-counts]
  @Test
  void onlyTheBytesOfDataCount() {
    Channel out = opened(sides.toHost);
    assertThat(send(out, 100)).isEqualTo(SENT);
    assertThat(send(out, 0)).isEqualTo(SENT);
    for (MessageKind kind : MessageKind.values()) {
      if (kind != MessageKind.DATA) {
        assertThat(sides.toHost.outbox().send(kind, 1, 0, new byte[20], 0, 20)).isEqualTo(SENT);
      }
    }
    assertThat(out.remainingCredit()).isZero();
  }

  // r[verify shm.flow.wrap-rule]
  // r[verify shm.trust.channels]
  @Test
  void creditThatIsTakenBackIsAViolation() {
    Channel out = opened(sides.toHost);
    send(out, 60);
    for (int forged : new int[] {59, 99, -100}) {
      forgeGranted(1, forged);
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(out::remainingCredit)
          .matches(e -> e.kind() == ProtocolViolation.Kind.CREDIT);
    }
  }

  // r[verify shm.flow.granted-total]
  @Test
  void creditPassesTwoToThe32() {
    Channel out = opened(sides.toHost);
    Channel in = null;
    // As if the channel had carried nearly four billion bytes: grants of one billion.
    long granted = 100;
    for (int i = 0; i < 3; i++) {
      forgeGranted(1, (int) (granted += 1_000_000_000));
      assertThat(out.remainingCredit()).isPositive();
      out.skip(1_000_000_000);
    }
    for (int i = 0; i < 40; i++) {
      assertThat(send(out, 50)).isEqualTo(SENT);
      in = received(sides.toGuest);
      in.grant(50_000_000);
      out.skip(50_000_000 - 50);
      assertThat(out.remainingCredit()).isEqualTo(100);
    }
    assertThat(in).isNotNull();
  }

  // r[verify shm.id.channel-parity]
  // r[verify shm.flow.channel-table-indexing]
  @Test
  void theHostOpensEvenIdsAndTheGuestOddOnesUntilThereAreNoMore() {
    assertThat(sides.toGuest.channels().open())
        .as("a guest may still clear its table before its first message")
        .isNull();
    send(opened(sides.toHost), 1);
    received(sides.toGuest);
    var ids = new ArrayList<Integer>();
    for (Channel c = sides.toHost.channels().open();
        c != null;
        c = sides.toHost.channels().open()) {
      ids.add(c.id());
    }
    assertThat(ids).containsExactly(3, 5, 7);
    ids.clear();
    for (Channel c = sides.toGuest.channels().open();
        c != null;
        c = sides.toGuest.channels().open()) {
      ids.add(c.id());
    }
    assertThat(ids).containsExactly(2, 4, 6);
  }

  // r[verify shm.trust.channels]
  // r[verify shm.flow.channel-table-indexing]
  @Test
  void channelsThatCannotBeAreViolations() {
    List<Runnable> forgeries =
        List.of(
            () -> data(0),
            () -> data(8),
            () -> data(0xffff_ffffL),
            () -> data(1), // free
            () -> data(2), // ours to open
            () -> sides.toHost.outbox().send(MessageKind.CLOSE, 3, 0, new byte[0], 0, 0),
            () -> {
              sides.bytes().set(JAVA_INT, sides.host.layout().channelState(1, 5), 3);
              data(5);
            });
    for (Runnable forgery : forgeries) {
      forgery.run();
      assertThat(sides.toGuest.inbox().receive(message)).isTrue();
      assertThatExceptionOfType(ProtocolViolation.class)
          .isThrownBy(() -> sides.toGuest.channels().of(message))
          .matches(e -> e.kind() == ProtocolViolation.Kind.CHANNEL);
    }
  }

  private void data(long id) {
    sides.toHost.outbox().send(MessageKind.DATA, id, 0, new byte[1], 0, 1);
  }

  // r[verify shm.flow.channel-activate]
  @Test
  void anEntryThatIsNotFreeIsLeftAsItIs() {
    sides.bytes().set(JAVA_INT, sides.host.layout().channelState(1, 1), 1);
    forgeGranted(1, 77);
    assertThat(opened(sides.toHost).id()).isEqualTo(3);
    assertThat(granted(1)).isEqualTo(77);
    assertThat(granted(3)).isEqualTo(100);
    assertThat(state(3)).isEqualTo(Channels.ACTIVE);
  }

  // r[verify shm.flow.channel-table]
  @ParameterizedTest
  @EnumSource
  void aGuestClearsItsTableBeforeItsFirstMessage(Placement placement) throws IOException {
    use(placement);
    long table = sides.host.layout().channelTable(2);
    long bytes = sides.host.layout().channelTableBytes();
    sides.bytes().asSlice(table, bytes).fill((byte) -1);
    Link second = Link.walkIn(sides.guest, WaitStrategy.SLEEP);
    assertThat(second.peer()).isEqualTo(2);
    for (long at = table; at < table + bytes; at += 4) {
      assertThat(sides.bytes().get(JAVA_INT, at)).isZero();
    }
  }

  @Test
  void aWindowOfTwoToThe31IsRefusedWhereChannelsAreUsed() throws IOException {
    sides.close();
    sides = Sides.of(Placement.V1, CONFIG.withChannels(8, 1L << 31));
    assertThatIllegalStateException()
        .isThrownBy(() -> sides.toHost.channels().open())
        .withMessageContaining("initial_credit");
  }

  // r[verify shm.flow.reset]
  @ParameterizedTest
  @EnumSource(names = {"CLOSE", "RESET"})
  void afterTheEndNobodyTouchesTheCounter(MessageKind how) {
    Channel out = opened(sides.toHost);
    send(out, 10);
    Channel in = received(sides.toGuest);
    assertThat(in.end(how, inMillis(1000))).isEqualTo(SENT);
    assertThat(state(1)).isEqualTo(Channels.CLOSED);
    assertThat(send(out, 1)).isEqualTo(OVER);
    assertThat(out.end(how, inMillis(1000))).as("the peer was first").isEqualTo(OVER);
    in.grant(10);
    assertThat(sides.toHost.inbox().receive(message)).isTrue();
    sides.toHost.channels().of(message);
    assertThat(state(1)).isEqualTo(Channels.FREE);
    in.grant(10);
    out.grant(10);
    assertThat(granted(1)).isEqualTo(100);
  }

  /**
   * Ending used to wait for the peer to read no matter which side had ended the previous life, and
   * kept all other senders from their turn meanwhile.
   */
  // r[verify shm.flow.channel-id-reuse]
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void onlyALifeAfterOneThatThePeerEndedWaitsToBeSeen(boolean endedByPeer) throws IOException {
    sides.close();
    sides = Sides.of(Placement.V1, CONFIG.withRingSize(32).withChannels(2, 100));
    Channel first = opened(sides.toHost);
    send(first, 10);
    Channel in = received(sides.toGuest);
    assertThat((endedByPeer ? in : first).end(MessageKind.CLOSE, inMillis(1000))).isEqualTo(SENT);
    received(endedByPeer ? sides.toHost : sides.toGuest);

    Channel second = opened(sides.toHost);
    assertThat(second.id()).isEqualTo(first.id());
    send(second, 10);
    assertThat(second.end(MessageKind.CLOSE, System.nanoTime()))
        .isEqualTo(endedByPeer ? TIMEOUT : SENT);
    received(sides.toGuest);
    if (endedByPeer) {
      assertThat(second.end(MessageKind.CLOSE, System.nanoTime())).isEqualTo(SENT);
    }
    received(sides.toGuest);

    Channel third = opened(sides.toHost); // after a life that we ended, in any case
    send(third, 10);
    assertThat(third.end(MessageKind.RESET, System.nanoTime())).isEqualTo(SENT);
    assertThat(received(sides.toGuest)).isSameAs(received(sides.toGuest));
  }

  // r[verify shm.id.channel-scope]
  @Test
  void theSameIdWithAnotherGuestIsAnotherChannel() throws IOException {
    try (Segment other =
        Segment.attach(Sys.forAnyThread(), Path.of("/proc/self/fd/" + sides.host.descriptor()))) {
      Link second = Link.walkIn(other, WaitStrategy.SLEEP);
      Link toSecond = Link.toGuest(sides.host, 2, WaitStrategy.SLEEP);
      Sides.send(sides.toHost, 1, new byte[0]);
      Sides.send(second, 1, new byte[0]);
      sides.toGuest.inbox().receive(message);
      toSecond.inbox().receive(message);
      Channel first = opened(sides.toGuest);
      Channel same = opened(toSecond);
      assertThat(first.id()).isEqualTo(same.id()).isEqualTo(2);
      send(first, 60);
      assertThat(first.remainingCredit()).isEqualTo(40);
      assertThat(same.remainingCredit()).isEqualTo(100);

      send(same, 30);
      Channel atFirst = received(sides.toHost);
      assertThat(message.length()).isEqualTo(60);
      assertThat(received(second).id()).isEqualTo(atFirst.id());
      assertThat(message.length()).isEqualTo(30);
      atFirst.grant(60);
      assertThat(first.remainingCredit()).isEqualTo(100);
      assertThat(same.remainingCredit()).isEqualTo(70);
    }
  }

  /**
   * Both sides open, send and end in random order. Every message names its channel's life, and none
   * turns up in another.
   */
  // r[verify shm.flow.channel-id-reuse]
  @ParameterizedTest
  @EnumSource
  void noByteOfOneLifeAppearsInTheNext(Placement placement) throws IOException {
    use(placement);
    int steps = Boolean.getBoolean("belfry.stress") ? 5_000_000 : 300_000;
    var life = new ChannelLives(sides, new Random(3));
    for (int i = 0; i < steps; i++) {
      life.step();
    }
    life.finish();
    assertThat(life.lives()).isGreaterThan(steps / 50);
    assertThat(life.delivered()).isGreaterThan(steps / 50);
  }

  /**
   * The message used to be sent after the id's next life had begun, and became its first data: a
   * message not written yet when the peer's Reset was read was not waited for.
   */
  // r[verify shm.flow.channel-id-reuse]
  @ParameterizedTest
  @EnumSource
  void dataThatIsBeingSentWhenThePeerEndsItsChannelIsNotOfTheNextLife(Placement placement)
      throws Exception {
    use(placement);
    Sides.send(sides.toHost, 1, new byte[1]);
    assertThat(sides.toGuest.inbox().receive(message)).isTrue();
    Channel old = opened(sides.toGuest);
    assertThat(send(old, 1)).isEqualTo(SENT);
    Channel peers = received(sides.toHost);
    var sending = new FutureTask<>(() -> send(old, 99)); // in a slot
    var reopening =
        new FutureTask<>(
            () -> {
              assertThat(received(sides.toGuest)).isSameAs(old);
              return opened(sides.toGuest);
            });
    BriefLock slots = lockOf(sides.host.hostSlots());
    slots.take(); // the sender needs it to get its slot
    try {
      startAndAwaitBlocked(sending);
      assertThat(peers.end(MessageKind.RESET, inMillis(9000))).isEqualTo(SENT);
      startAndAwaitBlocked(reopening);
    } finally {
      slots.end();
    }
    assertThat(sending.get()).isEqualTo(SENT);
    assertThat(reopening.get().id()).isNotEqualTo(old.id());
    assertThat(sides.toHost.inbox().receive(message)).isTrue();
    assertThat(message.length()).isEqualTo(99);
    assertThat(sides.toHost.channels().of(message)).isNull();
  }

  private static void startAndAwaitBlocked(FutureTask<?> task) {
    Thread thread = Thread.ofPlatform().start(task);
    await().until(() -> thread.getState() == Thread.State.WAITING || !thread.isAlive());
    assertThat(thread.isAlive()).as("waits for the lock").isTrue();
  }

  private static BriefLock lockOf(HostSlots slots) throws ReflectiveOperationException {
    Field lock = HostSlots.class.getDeclaredField("lock");
    lock.setAccessible(true);
    return (BriefLock) lock.get(slots);
  }
}
