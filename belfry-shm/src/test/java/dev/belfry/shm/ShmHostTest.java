package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import dev.belfry.loop.Coroutine;
import dev.belfry.testkit.Descriptors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A host with guests in processes of their own. */
final class ShmHostTest extends WithHost {

  /** Its path had the digits of the user's locale, and nobody could open it. */
  @Test
  void aTicketNamesTheSegmentInEveryLocale() throws Exception {
    open(Placement.PADDED);
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.of("ar", "EG"));
    try (SpawnTicket ticket = host().addPeer(notices.options())) {
      assertThat(ticket.arguments().hubPath()).exists();
    } finally {
      Locale.setDefault(before);
    }
  }

  // r[verify shm.spawn.ticket]
  // r[verify shm.death.callback-context]
  // r[verify shm.topology.hub]
  @ParameterizedTest
  @EnumSource
  void aSpawnedGuestAnswersLeavesAndIsGone(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      guest.step("echo", "echoing");
      for (int i = 0; i < 20; i++) {
        byte[] bytes = Sides.payload(i * 50, i);
        SendResult sent =
            guest
                .peer()
                .sendBlocking(
                    MessageKind.DATA, i, i, bytes, 0, bytes.length, Sides.inMillis(30_000));
        assertThat(sent).isEqualTo(SendResult.SENT);
        assertThat(notices.next()).isEqualTo("message %d %d".formatted(i, i * 50));
      }
      guest.peer().disconnect("enough");
      assertThat(notices.next()).isEqualTo("dying HOST");
      String told = notices.next();
      if (told.startsWith("message 0 6")) { // it had the time to send the reason back
        told = notices.next();
      }
      assertThat(told).isEqualTo("gone killed by SIGKILL");
    }
    fixture.assertAllFree();
    assertThat(notices.threads()).containsOnly(loop.thread());
  }

  // r[verify shm.guest.detach]
  @ParameterizedTest
  @EnumSource
  void whatAGuestSentBeforeItLeftIsReceived(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      guest.step("send 1 10", "SENT");
      guest.step("send 2 1000", "SENT");
      guest.step("detach", "detached");
      guest.say("exit 3");
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).isEqualTo("message 1 10");
      assertThat(notices.next()).isEqualTo("message 2 1000");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      assertThat(notices.next()).isEqualTo("gone exit code 3");
    }
    fixture.assertAllFree();
  }

  /** The seed's test: a blocked send on a ring of four ends when the host drains one. */
  // r[verify shm.doorbell.ring-integration]
  @ParameterizedTest
  @EnumSource
  void aBlockedSendEndsWhenTheHostReadsOne(Placement placement) throws Exception {
    open(placement);
    PeerOptions fetched = PeerOptions.DEFAULT.withListener(notices);
    try (SteppedGuest guest = SteppedGuest.attached(host(), fetched)) {
      for (int i = 0; i < 3; i++) {
        guest.step("send %d 1".formatted(i), "SENT");
      }
      guest.step("send 3 1", "RING_FULL");
      guest.step("block 99 1", "blocking");
      var message = new Message();
      assertThat(guest.peer().receive(message)).isTrue();
      assertThat(message.id()).isZero();
      guest.expect("SENT");
      guest.say("exit 0");
      assertThat(notices.next()).isEqualTo("attached");
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
      // What it had sent can still be fetched, although its entry is free.
      for (int id : new int[] {1, 2, 99}) {
        assertThat(guest.peer().receiveBlocking(message, Sides.inMillis(30_000)))
            .isEqualTo(Awaited.READY);
        assertThat(message.id()).isEqualTo(id);
      }
      assertThat(guest.peer().receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
    }
    fixture.assertAllFree();
  }

  /** Who had waited for it to come was told that it is over, and not what it had sent. */
  // r[verify shm.death.dying]
  @ParameterizedTest
  @EnumSource
  void whatAGuestSentIsReceivedThoughItIsDyingWhenItIsSeenToHaveCome(Placement placement)
      throws Exception {
    open(placement);
    PeerListener givesUp =
        new PeerListener() {
          @Override
          public void onAttached(Peer peer) {
            peer.life().disconnect("not wanted after all");
          }
        };
    try (SteppedGuest guest =
        SteppedGuest.start(host(), SteppedGuest.JAVA, PeerOptions.DEFAULT.withListener(givesUp))) {
      var message = new Message();
      var begun = new CountDownLatch(1);
      Coroutine<Awaited> receiver =
          loop.loop()
              .spawn(
                  "receives",
                  () -> {
                    begun.countDown();
                    return guest.peer().receiveBlocking(message, FutexWait.FOREVER);
                  });
      begun.await();
      CountDownLatch distraction = fixture.distract(); // by when the coroutine waits
      guest.step("attach", "attached");
      guest.step("send 7 10", "SENT");
      distraction.countDown();
      assertThat(receiver.result().get(30, TimeUnit.SECONDS)).isEqualTo(Awaited.READY);
      assertThat(message.id()).isEqualTo(7);
    }
  }

  @Test
  void aGuestThatNeverComesIsKilledAtTheLimit() throws Exception {
    open(Placement.PADDED);
    SpawnTicket ticket = host().addPeer(notices.options().withAttachLimit(Duration.ofMillis(50)));
    Peer peer = host().spawn(List.of("sh", "-c", "exec sleep 60", "ticket"), ticket);
    byte[] bytes = new byte[1];
    assertThat(peer.send(MessageKind.REQUEST, 1, 0, bytes, 0, 1))
        .isEqualTo(SendResult.NOT_ATTACHED);
    assertThat(notices.next()).isEqualTo("dying TIME_LIMIT");
    assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    assertThat(peer.sendBlocking(MessageKind.REQUEST, 1, 0, bytes, 0, 1, FutexWait.FOREVER))
        .isEqualTo(SendResult.OVER);
    fixture.assertAllFree();
  }

  /** It waited for ever if the guest died: the loop that it held up has to see that. */
  @ParameterizedTest
  @EnumSource
  void nobodyWaitsOnTheLoopForAGuestToReadOrToSend(Placement placement) throws Exception {
    open(placement);
    try (SteppedGuest guest = SteppedGuest.attached(host(), PeerOptions.DEFAULT)) {
      Peer peer = guest.peer();
      assertThat(peer.awaitAttached(Sides.inMillis(30_000))).isEqualTo(Awaited.READY);
      LongFunction<SendResult> send =
          until -> peer.sendBlocking(MessageKind.DATA, 1, 0, new byte[1], 0, 1, until);
      for (int i = 0; i < peer.ringCapacity(); i++) {
        assertThat(loop.call(() -> send.apply(FutexWait.FOREVER))).isEqualTo(SendResult.SENT);
      }
      LongFunction<Awaited> receive = until -> peer.receiveBlocking(new Message(), until);
      for (LongFunction<?> wait : List.of(send, receive)) {
        long soon = Sides.inMillis(1000);
        assertThatThrownBy(() -> loop.call(() -> wait.apply(soon)))
            .hasCauseInstanceOf(IllegalStateException.class)
            .hasMessageContaining("would stop the loop");
      }
      long now = System.nanoTime();
      assertThat(loop.call(() -> send.apply(now))).isEqualTo(SendResult.TIMEOUT);
      assertThat(loop.call(() -> receive.apply(now))).isEqualTo(Awaited.TIMEOUT);
    }
  }

  /** It waited for ever, because the loop that it held up has to see the guest come. */
  @Test
  void nobodyWaitsOnTheLoopForAGuestToAttach() throws Exception {
    open(Placement.PADDED);
    try (SpawnTicket ticket = host().addPeer(notices.options())) {
      Peer peer = ticket.peer();
      long soon = Sides.inMillis(1000);
      assertThatThrownBy(() -> loop.call(() -> peer.awaitAttached(soon)))
          .hasCauseInstanceOf(IllegalStateException.class)
          .hasMessageContaining("would stop the loop");
      long now = System.nanoTime();
      assertThat(loop.call(() -> peer.awaitAttached(now))).isEqualTo(Awaited.TIMEOUT);
    }
  }

  // r[verify shm.spawn.reserved-state]
  @Test
  void aChildThatEndsAtOnceFreesItsReservation() throws Exception {
    open(Placement.V1);
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), host().addPeer(notices.options()));
    assertThat(notices.next()).isIn("dying PROCESS", "dying DOORBELL");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
    fixture.assertAllFree();
  }

  @Test
  void whatCannotBeStartedLeavesNothingBehind() throws Exception {
    open(Placement.PADDED);
    for (int i = 0; i < 10; i++) {
      SpawnTicket ticket = host().addPeer(notices.options());
      assertThat(ticket.peer().id()).isEqualTo(1);
      assertThatThrownBy(() -> host().spawn(List.of("/no/such/program"), ticket))
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("ENOENT");
      loop.call(() -> true);
    }
    fixture.tap.fail("socketpair", Errno.EMFILE);
    assertThatThrownBy(() -> host().addPeer(notices.options())).hasMessageContaining("EMFILE");
    fixture.tap.pass("socketpair");
    host().addPeer(notices.options()).close();
    fixture.assertAllFree();
    assertThat(notices.all()).isEmpty();
  }

  /** Its entry was kept for ever, for it might still write, though nobody had been started. */
  // r[verify shm.spawn.reserved-state]
  @ParameterizedTest
  @EnumSource
  void aTicketWhoseGuestIsNoLongerWantedIsGivenBack(Placement placement) throws Exception {
    open(placement);
    SpawnTicket ticket = host().addPeer(notices.options());
    ticket.peer().disconnect("not wanted any more");
    assertThat(ticket.peer().awaitAttached(FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
    assertThatThrownBy(() -> host().spawn(List.of("sh", "-c", "exit 0", "ticket"), ticket))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("given back");
    fixture.assertAllFree();
    assertThat(notices.all()).isEmpty();
  }

  /** It got the messages of the guest that had its entry after it. */
  // r[verify shm.spawn.reserved-state]
  @ParameterizedTest
  @EnumSource
  void whoeverStillAsksForTheGuestOfAnUnusedTicketGetsNoMessageOfAnother(Placement placement)
      throws Exception {
    open(placement);
    SpawnTicket unused = host().addPeer(PeerOptions.DEFAULT);
    unused.close();
    loop.call(() -> true);
    try (SteppedGuest guest = SteppedGuest.attached(host(), PeerOptions.DEFAULT)) {
      assertThat(guest.peer().id()).isEqualTo(unused.peer().id());
      guest.step("send 7 10", "SENT");
      var message = new Message();
      assertThat(unused.peer().receive(message)).isFalse();
      assertThat(unused.peer().receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
      assertThat(guest.peer().receive(message)).isTrue();
      assertThat(message.id()).isEqualTo(7);
      guest.kill();
    }
  }

  @Test
  void moreGuestsThanThereAreEntriesForAreRefused() throws Exception {
    open(Placement.PADDED);
    try (SpawnTicket _ = host().addPeer(notices.options());
        SpawnTicket _ = host().addPeer(notices.options())) {
      assertThatThrownBy(() -> host().addPeer(notices.options()))
          .isInstanceOf(SegmentException.class)
          .hasMessageContaining("all 2 are taken");
    }
    loop.call(() -> true);
    host().addPeer(notices.options()).close();
  }

  /**
   * As long as the loop had not listened for the first time a guest was told that its host never
   * sleeps, and so might not see that it just went to sleep.
   */
  @ParameterizedTest
  @EnumSource(names = {"SPIN", "YIELD"})
  void noGuestIsToldThatALoopNeverSleeps(WaitStrategy strategy) throws Exception {
    PeerOptions options = PeerOptions.DEFAULT.withStrategy(strategy).withHandler((_, _) -> {});
    try (HostFixture fixture = HostFixture.of(Placement.PADDED);
        SpawnTicket ticket = fixture.host().addPeer(options)) {
      Segment segment = fixture.host().segment();
      long flag = segment.layout().dataSleeper(ticket.peer().id(), Direction.TO_HOST);
      assertThat(segment.memory().getInt(segment.memory().address(flag, Integer.BYTES))).isZero();
    }
  }

  // r[verify shm.spawn.fd-inheritance]
  @Test
  void aChildHasItsBellAndTheSegmentAndNothingElse() throws Exception {
    open(Placement.PADDED);
    assertThat(Descriptors.now().targets()).as("numbers that are taken here").containsKeys(3, 4);
    Path list = directory.resolve("list");
    String script =
        "exec >\"$0\"; ls -l /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status; echo $*";
    host().spawn(List.of("sh", "-c", script, list.toString()), host().addPeer(notices.options()));
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 0");
    List<String> lines = Files.readAllLines(list);
    List<String> descriptors =
        lines.stream().filter(it -> it.contains(" -> ") && !it.contains("/proc/")).toList();
    assertThat(descriptors).hasSize(5); // and the one by which ls reads the directory
    assertThat(descriptors.get(3)).contains(" 3 -> socket:");
    assertThat(descriptors.get(4)).contains(" 4 -> /memfd:belfry-segment");
    assertThat(lines).anyMatch(it -> it.matches("SigBlk:\\s+0{16}"));
    long ofTheLibrary = 0x1_8000_0000L; // 32 and 33, which nobody else can change
    assertThat(lines)
        .filteredOn(it -> it.startsWith("SigIgn:"))
        .hasSize(1)
        .allMatch(it -> (Long.parseUnsignedLong(it.substring(7).strip(), 16) & ~ofTheLibrary) == 0);
    assertThat(lines.getLast()).isEqualTo("--hub-path=/proc/self/fd/4 --peer-id=1 --doorbell-fd=3");
  }

  // They took the numbers at which the guest looks for its bell and the segment.
  // r[verify shm.spawn.fd-inheritance]
  @Test
  void descriptorsThatACallerPassesOnComeBehindThoseOfTheGuest() throws Exception {
    open(Placement.PADDED);
    Path list = directory.resolve("list");
    String script = "exec >\"$0\"; readlink /proc/self/fd/3 /proc/self/fd/4 /proc/self/fd/5";
    try (Fd more = SharedFile.createAnonymous(Sys.forAnyThread(), "more")) {
      host()
          .spawn(
              List.of("sh", "-c", script, list.toString()),
              host().addPeer(notices.options()),
              spawn -> spawn.pass(more.number()));
    }
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 0");
    List<String> descriptors = Files.readAllLines(list);
    assertThat(descriptors).hasSize(3);
    assertThat(descriptors.get(0)).startsWith("socket:");
    assertThat(descriptors.get(1)).startsWith("/memfd:belfry-segment");
    assertThat(descriptors.get(2)).startsWith("/memfd:more");
  }

  /** The first argument of the ticket was run as a program. */
  // r[verify shm.spawn.ticket]
  @Test
  void aCommandWithoutAProgramIsRefusedAndTheTicketStaysGood() throws Exception {
    open(Placement.PADDED);
    SpawnTicket ticket = host().addPeer(notices.options());
    assertThatThrownBy(() -> host().spawn(List.of(), ticket))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("program");
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), ticket);
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
  }

  // It started a guest with the entry of the one and the memory of the other.
  @Test
  void aTicketOfAnotherHostIsRefusedAndStaysGood() throws Exception {
    open(Placement.PADDED);
    List<String> command = List.of("sh", "-c", "exit 7", "ticket");
    try (HostFixture other = HostFixture.of(Placement.PADDED)) {
      SpawnTicket ticket = other.host().addPeer(notices.options());
      assertThatThrownBy(() -> host().spawn(command, ticket))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another host");
      other.host().spawn(command, ticket);
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone exit code 7");
    }
  }

  // r[verify shm.doorbell.clear-cloexec]
  @Test
  void noDescriptorIsMadeInheritableForAChild() throws Exception {
    open(Placement.PADDED);
    var cleared = new ConcurrentLinkedQueue<List<Object>>();
    fixture.tap.script(
        "fcntl",
        (_, arguments) -> {
          int setFlags = 2; // F_SETFD
          if (arguments[1].equals(setFlags) && arguments[2].equals(0L)) {
            cleared.add(List.of(arguments));
          }
          return OptionalLong.empty();
        });
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), host().addPeer(notices.options()));
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
    assertThat(fixture.tap.calls("fcntl")).isPositive();
    assertThat(cleared).isEmpty();
  }

  // r[verify shm.doorbell.optional]
  @ParameterizedTest
  @EnumSource
  void aGuestWithoutABellIsPolled(Placement placement) throws Exception {
    open(placement);
    Path path = fixture.path();
    try (ShmGuest guest = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE)) {
      assertThat(notices.next()).isEqualTo("attached");
      for (int i = 0; i < 50; i++) {
        byte[] bytes = Sides.payload(40, i);
        assertThat(guest.sendBlocking(MessageKind.REQUEST, i, 0, bytes, 0, 40, FutexWait.FOREVER))
            .isEqualTo(SendResult.SENT);
        assertThat(notices.next()).isEqualTo("message %d 40".formatted(i));
      }
      assertThat(guest.end()).isEmpty();
    }
    assertThat(notices.next()).isEqualTo("dying GOODBYE");
    assertThat(notices.next()).isEqualTo("gone null");
    fixture.assertAllFree();
  }

  /** It was: once a round had found such a message, the loop woke a thousand times a second. */
  @Test
  void aGuestThatNeedNotRingIsNotPolledForNotRinging() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = guest.peer();
      for (int i = 1; i <= 2; i++) { // the first look may still be put down to the ring on coming
        loop.call(
            () -> {
              assertThat(peer.tryReceiving()).isTrue();
              peer.endReceivingDeaf();
              return true;
            });
        guest.step("send %d 40".formatted(i), "SENT");
        assertThat(notices.next()).isEqualTo("message %d 40".formatted(i));
      }
      assertThat(loop.call(() -> peer.life().isPolled())).isFalse();
      guest.step("detach", "detached");
      assertThat(notices.next()).isEqualTo("dying GOODBYE");
      guest.say("exit 0");
      assertThat(notices.next()).isEqualTo("gone exit code 0");
    }
  }

  /**
   * The loop was sent for because a bell had been heard, and found another thread receiving, which
   * had been told that there was nothing more to hear: so the next answer was found by a round.
   */
  @Test
  void whatTheLoopWasSentForIsLookedForAgainIfAnotherWasReceiving() throws Exception {
    open(Placement.PADDED);
    try (SteppedGuest guest = SteppedGuest.attached(host(), notices.options())) {
      assertThat(notices.next()).isEqualTo("attached");
      Peer peer = guest.peer();
      assertThat(isMissedWhileAnotherReceives(peer, peer.life()::pump)).isTrue();
      assertThat(isMissedWhileAnotherReceives(peer, peer.life()::lookAround))
          .as("a round")
          .isFalse();
    }
  }

  /**
   * Whether a thread that was receiving while the loop came by is told to send for it. All in one
   * task of the loop, so that no ring of the guest, such as the one on coming, is heard meanwhile.
   */
  private boolean isMissedWhileAnotherReceives(Peer peer, Runnable comesBy) throws Exception {
    try (ExecutorService another = Executors.newSingleThreadExecutor()) {
      return loop.call(
          () -> {
            assertThat(another.submit(peer::tryReceiving).get()).isTrue();
            comesBy.run();
            return another.submit(peer.exchange().receiving()::endReceivingDeaf).get();
          });
    }
  }

  @Test
  void pollingTakesATurnOfEachGuest() throws Exception {
    fixture.open(
        HostOptions.DEFAULT
            .withConfig(CONFIG)
            .withBudget(2)
            .withWalkIns(PeerOptions.DEFAULT.withListener(notices)));
    Path path = fixture.path();
    try (ShmGuest one = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE);
        ShmGuest two = ShmGuest.walkIn(Sys.forAnyThread(), path, WaitStrategy.ADAPTIVE)) {
      notices.next();
      notices.next();
      for (int i = 0; i < 3; i++) {
        one.send(MessageKind.REQUEST, i, 0, new byte[1], 0, 1);
        two.send(MessageKind.REQUEST, i, 0, new byte[1], 0, 1);
      }
      var counts = new AtomicInteger[] {new AtomicInteger(), new AtomicInteger()};
      MessageHandler handler = (peer, _) -> counts[peer.id() - 1].incrementAndGet();
      assertThat(host().poll(handler)).isEqualTo(4);
      assertThat(counts[0]).hasValue(2);
      assertThat(counts[1]).hasValue(2);
      assertThat(host().poll(handler)).isEqualTo(2);
      assertThat(host().poll(handler)).isZero();
    }
  }
}
