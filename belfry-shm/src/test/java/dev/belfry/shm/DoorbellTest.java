package dev.belfry.shm;

import static dev.belfry.shm.Doorbell.Event.DEATH;
import static dev.belfry.shm.Doorbell.Event.SIGNAL;
import static dev.belfry.shm.Doorbell.Event.TIMEOUT;
import static dev.belfry.shm.Doorbell.Rung.ALREADY_PENDING;
import static dev.belfry.shm.Doorbell.Rung.PEER_DEAD;
import static dev.belfry.shm.Doorbell.Rung.SENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.Coroutine;
import java.time.Duration;
import java.util.ArrayList;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Bells between threads. */
final class DoorbellTest extends WithBells {

  // r[verify shm.doorbell.signal]
  @Test
  void aRingIsASignalAtTheOtherEnd() throws Exception {
    assertThat(guest.poll()).isEqualTo(TIMEOUT);
    assertThat(host.ring()).isEqualTo(SENT);
    assertThat(guest.poll()).isEqualTo(SIGNAL);
    assertThat(guest.poll()).isEqualTo(TIMEOUT);
    guest.ring();
    assertThat(host.await()).isEqualTo(SIGNAL);
  }

  // r[verify shm.doorbell.death]
  @Test
  void aClosedEndIsDeathForEver() throws Exception {
    host.close();
    assertThat(guest.await(Duration.ofMillis(100))).isEqualTo(DEATH);
    assertThat(guest.await()).isEqualTo(DEATH);
    assertThat(guest.ring()).isEqualTo(PEER_DEAD);
    assertThat(guest.isPeerDead()).isTrue();
  }

  @Test
  void whatWasRungLastIsHeardBeforeDeath() throws Exception {
    host.ring();
    guest.ring(); // unread at the other end, which makes the kernel report an error as well
    host.close();
    assertThat(guest.await()).isEqualTo(SIGNAL);
    assertThat(guest.await()).isEqualTo(DEATH);
    assertThat(guest.poll()).isEqualTo(DEATH);
  }

  // r[verify shm.doorbell.signal]
  @Test
  void aThousandUnreadRingsBlockNobodyAndAreOneSignal() throws Exception {
    for (int i = 0; i < 1000; i++) {
      assertThat(host.ring()).isIn(SENT, ALREADY_PENDING);
    }
    assertThat(host.ring()).isEqualTo(ALREADY_PENDING);
    assertThat(guest.await(LONG)).isEqualTo(SIGNAL);
    assertThat(guest.poll()).isEqualTo(TIMEOUT);
    assertThat(host.ring()).isEqualTo(SENT);
  }

  // r[verify shm.doorbell.signal]
  @Test
  void otherErrorsDoNotMeanThatThePeerIsDead() throws Exception {
    for (int errno : new int[] {Errno.EAGAIN, Errno.ENOBUFS}) {
      tap.fail("send", errno);
      assertThat(host.ring()).isEqualTo(ALREADY_PENDING);
    }
    tap.fail("send", Errno.EACCES);
    assertThatThrownBy(host::ring)
        .isInstanceOf(ErrnoException.class)
        .hasMessageContaining("EACCES");
    tap.failFirst("send", 3, Errno.EINTR);
    assertThat(host.ring()).isEqualTo(SENT);
    assertThat(host.isPeerDead()).isFalse();
  }

  // r[verify shm.doorbell.signal]
  @ParameterizedTest
  @ValueSource(ints = {Errno.EPIPE, Errno.ECONNRESET, Errno.ECONNREFUSED, Errno.ENOTCONN})
  void theseMeanThatThePeerIsDeadForGood(int errno) throws Exception {
    tap.failFirst("send", 1, errno);
    assertThat(host.ring()).isEqualTo(PEER_DEAD);
    assertThat(host.ring()).as("it stays so").isEqualTo(PEER_DEAD);
    assertThat(host.isPeerDead()).isTrue();
    assertThat(tap.calls("send")).isEqualTo(1);
  }

  // r[verify shm.doorbell.wait]
  @Test
  void aWaitIsNeverShorterThanAsked() throws Exception {
    for (Duration wait : new Duration[] {Duration.ofNanos(900_000), Duration.ofMillis(20)}) {
      long began = System.nanoTime();
      assertThat(guest.await(wait)).isEqualTo(TIMEOUT);
      assertThat(System.nanoTime() - began).isGreaterThanOrEqualTo(wait.toNanos());
    }
    assertThat(guest.await(Duration.ofSeconds(-1))).isEqualTo(TIMEOUT);
  }

  @ParameterizedTest
  @ValueSource(strings = {"P30D", "PT2562047788015215H"})
  void aVeryLongWaitIsALongWait(String text) throws Exception {
    CompletableFuture<Doorbell.Event> waiting = inThread(() -> guest.await(Duration.parse(text)));
    assertThat(waiting.isDone()).isFalse();
    host.ring();
    assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
  }

  @Test
  void interruptedWaitsEndInTime() throws Exception {
    tap.script("ppoll", (nth, _) -> interrupted(nth));
    long began = System.nanoTime();
    assertThat(guest.await(Duration.ofMillis(100))).isEqualTo(TIMEOUT);
    assertThat(System.nanoTime() - began).isBetween(100_000_000L, 10_000_000_000L);
    assertThat(tap.calls("ppoll")).isGreaterThan(5);
    tap.pass("ppoll");
    host.ring();
    tap.failFirst("recv", 3, Errno.EINTR);
    assertThat(guest.await(LONG)).isEqualTo(SIGNAL);
  }

  /** Parking used to return at once, so that the thread read the bell in a hot loop. */
  // r[verify shm.doorbell.wait]
  @Test
  void anInterruptedVirtualThreadPausesBetweenItsLooks() throws Exception {
    var kept = new CompletableFuture<Boolean>();
    var event = new CompletableFuture<Doorbell.Event>();
    Thread.ofVirtual()
        .start(
            () -> {
              Thread.currentThread().interrupt();
              try {
                event.complete(guest.await(Duration.ofMillis(200)));
              } catch (ErrnoException e) {
                event.completeExceptionally(e);
              }
              kept.complete(Thread.currentThread().isInterrupted());
            });
    assertThat(event.get(30, TimeUnit.SECONDS)).isEqualTo(TIMEOUT);
    assertThat(kept.get(30, TimeUnit.SECONDS)).isTrue();
    assertThat(tap.calls("recv")).as("looks, one each millisecond in the end").isLessThan(1000);
  }

  /** As if by a signal every five milliseconds, for a while. */
  private static OptionalLong interrupted(long nth) {
    if (nth > 10) {
      return OptionalLong.empty();
    }
    LockSupport.parkNanos(5_000_000);
    return OptionalLong.of(-Errno.EINTR);
  }

  @Test
  void aPeerThatWritesNoMoreIsDead() throws Exception {
    Sockets.shutdown(tap.sys(), host.descriptor(), Sockets.SHUT_WR);
    assertThat(guest.await(LONG)).isEqualTo(DEATH);
  }

  @Test
  void aClosedEndThrows() {
    guest.close();
    assertThatThrownBy(guest::poll).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(guest::ring).isInstanceOf(IllegalStateException.class);
    guest.close();
  }

  @Test
  void closingSendsThoseAwayWhoWait() throws Exception {
    CompletableFuture<Doorbell.Event> waiting = inThread(guest::await);
    guest.close();
    assertThatThrownBy(() -> waiting.get(30, TimeUnit.SECONDS))
        .hasRootCauseInstanceOf(IllegalStateException.class);
  }

  /** Closing used to wait for the reader, and thereby kept it from noticing. */
  @Test
  void anEndCanBeClosedOnTheLoopWhoseCoroutineWaitsThere() throws Exception {
    try (RunningLoop loop = RunningLoop.start()) {
      var begun = new CountDownLatch(1);
      Coroutine<Doorbell.Event> waiting =
          loop.loop()
              .spawn(
                  "waits",
                  () -> {
                    begun.countDown();
                    return guest.await();
                  });
      begun.await();
      loop.call(
          () -> {
            guest.close();
            return true;
          });
      assertThatThrownBy(() -> waiting.result().get(30, TimeUnit.SECONDS))
          .hasRootCauseInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void allWhoWaitHearTheOneWhoReads() throws Exception {
    CompletableFuture<Doorbell.Event> first = inThread(guest::await);
    CompletableFuture<Doorbell.Event> second = inThread(() -> guest.await(LONG));
    host.ring();
    assertThat(first.get(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
    assertThat(second.get(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
  }

  @Test
  void whatAnotherHasHeardSinceIsNotMissed() throws Exception {
    long heard = guest.heard();
    host.ring();
    assertThat(guest.poll()).isEqualTo(SIGNAL); // by another thread, between the look and the wait
    assertThat(guest.awaitSince(heard, Deadlines.FOREVER)).isEqualTo(SIGNAL);
    assertThat(guest.awaitSince(guest.heard(), System.nanoTime())).isEqualTo(TIMEOUT);
  }

  @Test
  void aVirtualThreadHearsToo() throws Exception {
    var heard = new CompletableFuture<Doorbell.Event>();
    Thread.startVirtualThread(
        () -> {
          try {
            heard.complete(guest.await());
          } catch (ErrnoException e) {
            heard.completeExceptionally(e);
          }
        });
    host.ring();
    assertThat(heard.get(30, TimeUnit.SECONDS)).isEqualTo(SIGNAL);
    assertThat(polls()).isZero();
  }

  // r[verify shm.doorbell.socketpair]
  @Test
  void bothEndsAreStreamsThatNeitherBlockNorPassOn() throws Exception {
    for (Doorbell end : new Doorbell[] {host, guest}) {
      int fd = end.descriptor();
      assertThat(Sockets.option(tap.sys(), fd, Sockets.SOL_SOCKET, Sockets.SO_TYPE))
          .isEqualTo(Sockets.Type.STREAM.number());
      assertThat(FdFlags.isCloseOnExec(tap.sys(), fd)).isTrue();
      assertThat(FdFlags.isNonBlocking(tap.sys(), fd)).isTrue();
    }
  }

  /** Otherwise a child that another thread starts between two calls would inherit them. */
  // r[verify shm.spawn.fd-inheritance]
  @Test
  void bothEndsAreClosedOnExecFromTheFirstMoment() throws Exception {
    var types = new ArrayList<Integer>();
    tap.script(
        "socketpair",
        (_, arguments) -> {
          types.add((int) arguments[1]);
          return OptionalLong.empty();
        });
    Doorbell.Pair bells = Doorbell.pair(tap.sys());
    bells.host().close();
    bells.guest().close();
    int closeOnExec = 02000000;
    assertThat(types).hasSize(1).allMatch(type -> (type & closeOnExec) != 0);
    assertThat(tap.calls("fcntl")).isZero();
  }

  @Test
  void onADatagramBellDeathShowsWhenRinging() throws Exception {
    Sockets.Pair ends = Sockets.pair(tap.sys(), Sockets.Type.DATAGRAM, true);
    try (Doorbell adopted = Doorbell.adopt(tap.sys(), ends.second().release())) {
      assertThat(adopted.tellsDeath()).isFalse();
      assertThat(adopted.ring()).isEqualTo(SENT);
      ends.first().close();
      assertThat(adopted.poll()).isEqualTo(TIMEOUT);
      assertThat(adopted.ring()).isEqualTo(PEER_DEAD);
    }
  }

  @Test
  void whatIsNoSocketIsRefusedAndLeftAlone() throws Exception {
    Pipe pipe = Pipe.open(tap.sys(), false);
    assertThatThrownBy(() -> Doorbell.adopt(tap.sys(), pipe.reader().number()))
        .isInstanceOf(TicketException.class)
        .hasMessageContaining("not an open socket");
    pipe.reader().close();
    pipe.writer().close();
    assertThatThrownBy(() -> Doorbell.adopt(tap.sys(), 4000)).isInstanceOf(TicketException.class);
  }

  private interface Wait {
    Doorbell.Event await() throws Exception;
  }

  /** Waits in a thread; returns when it blocks in the kernel, or behind a thread that does. */
  private CompletableFuture<Doorbell.Event> inThread(Wait wait) throws Exception {
    var result = new CompletableFuture<Doorbell.Event>();
    long before = polls();
    Thread thread =
        Thread.ofPlatform()
            .daemon()
            .start(
                () -> {
                  try {
                    result.complete(wait.await());
                  } catch (Exception e) {
                    result.completeExceptionally(e);
                  }
                });
    while (polls() == before
        && thread.getState() != Thread.State.TIMED_WAITING
        && !result.isDone()) {
      LockSupport.parkNanos(1_000_000);
    }
    return result;
  }

  private long polls() {
    return tap.calls("poll") + tap.calls("ppoll");
  }

  /** There used to be no way to learn the result of the ring. */
  // r[verify shm.doorbell.ring-integration]
  @Test
  void aMessageForAPeerThatJustDiedIsPublishedAndTheOutboxSaysSo() throws Exception {
    var message = new Message();
    Doorbell.Pair bells = Doorbell.pair(Sys.forAnyThread());
    try (Sides sides = Sides.of(Placement.V1, Sides.CONFIG)) {
      int peer = sides.host.peers().reserve();
      Link guest = Link.claim(sides.guest, peer, WaitStrategy.SLEEP, bells.guest());
      assertThat(Sides.send(guest, 1, Sides.payload(9, 1))).isEqualTo(SendResult.SENT);
      assertThat(guest.outbox().isPeerDead()).isFalse();
      bells.host().close();
      assertThat(Sides.send(guest, 2, Sides.payload(9, 2))).isEqualTo(SendResult.SENT);
      assertThat(guest.outbox().isPeerDead()).isTrue();
      Link host = Link.toGuest(sides.host, peer, WaitStrategy.SLEEP);
      for (int id = 1; id <= 2; id++) {
        assertThat(host.inbox().receive(message)).isTrue();
        assertThat(message.id()).isEqualTo(id);
      }
      assertThat(host.inbox().receive(message)).isFalse();
    } finally {
      bells.guest().close();
    }
  }
}
