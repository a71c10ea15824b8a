package dev.belfry.linux;

import static dev.belfry.linux.Epoll.ET;
import static dev.belfry.linux.Epoll.FOREVER;
import static dev.belfry.linux.Epoll.HUP;
import static dev.belfry.linux.Epoll.IN;
import static dev.belfry.linux.Epoll.OUT;
import static dev.belfry.linux.Epoll.RDHUP;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class EpollTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final EpollEvents batch = new EpollEvents(Arena.ofAuto(), 4);
  private Epoll epoll;
  private EventFd bell;

  @BeforeEach
  void open() throws ErrnoException {
    epoll = Epoll.create(SYS);
    bell = EventFd.create(SYS);
  }

  @AfterEach
  void close() {
    bell.close();
    epoll.close();
  }

  @Test
  void anEventComesWithAllBitsOfItsToken() {
    long token = 0x8123_4567_89ab_cdefL;
    assertThat(epoll.add(bell.number(), IN, token)).isZero();
    assertThat(epoll.await(batch, 0)).isZero();

    bell.signal();

    assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
    assertThat(batch.events(0)).isEqualTo(IN);
    assertThat(batch.token(0)).isEqualTo(token);
  }

  @Test
  void eachEventOfABatchKeepsItsOwnToken() throws ErrnoException {
    var bells = new ArrayList<EventFd>();
    for (int i = 0; i < 6; i++) {
      EventFd next = EventFd.create(SYS);
      bells.add(next);
      assertThat(epoll.add(next.number(), IN | ET, 1L << (10 * i))).isZero();
      next.signal();
    }

    var tokens = new HashSet<Long>();
    assertThat(epoll.await(batch, FOREVER)).as("no more than fit").isEqualTo(4);
    for (int i = 0; i < 4; i++) {
      tokens.add(batch.token(i));
    }
    assertThat(epoll.await(batch, FOREVER)).as("the rest").isEqualTo(2);
    tokens.add(batch.token(0));
    tokens.add(batch.token(1));

    assertThat(tokens)
        .containsExactlyInAnyOrder(1L, 1L << 10, 1L << 20, 1L << 30, 1L << 40, 1L << 50);
    bells.forEach(EventFd::close);
  }

  @Test
  void aStateIsReportedAgainAndAgain() {
    epoll.add(bell.number(), IN, 1);
    bell.signal();

    assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
    assertThat(epoll.await(batch, 0)).isEqualTo(1);
    bell.reset();
    assertThat(epoll.await(batch, 0)).isZero();
  }

  @Test
  void edgeTriggeredAChangeIsReportedOnce() {
    epoll.add(bell.number(), IN | ET, 1);
    bell.signal();

    assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
    assertThat(epoll.await(batch, 0)).isZero();
    bell.signal();
    assertThat(epoll.await(batch, FOREVER)).as("the next change").isEqualTo(1);
  }

  @Test
  void modifyingReportsAgainWhatIsAlreadyTrue() {
    epoll.add(bell.number(), IN | ET, 1);
    bell.signal();
    epoll.await(batch, FOREVER);

    assertThat(epoll.modify(bell.number(), IN | OUT | ET, 2)).isZero();

    assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
    assertThat(batch.events(0)).isEqualTo(IN | OUT);
    assertThat(batch.token(0)).isEqualTo(2);
  }

  @Test
  void aSocketIsWritableUntilItIsFull() throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (Arena arena = Arena.ofConfined();
        Fd first = pair.first();
        Fd _ = pair.second()) {
      epoll.add(first.number(), OUT, 7);
      assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
      assertThat(batch.events(0)).isEqualTo(OUT);

      var much = arena.allocate(1 << 16);
      while (Sockets.send(SYS, first.number(), much) > 0) {
        // Until it is full.
      }

      assertThat(epoll.await(batch, 0)).isZero();
      epoll.delete(first.number());
    }
  }

  @Test
  void aPeerThatGoesIsReported() throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (Fd first = pair.first()) {
      epoll.add(first.number(), IN | RDHUP | ET, 7);
      pair.second().close();

      assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);
      assertThat(batch.events(0)).isEqualTo(IN | RDHUP | HUP);
      epoll.delete(first.number());
    }
  }

  @Test
  void aDescriptorDeletedBeforeItIsClosedReportsNothingThroughADuplicate() throws ErrnoException {
    EventFd watched = EventFd.create(SYS);
    try (Fd duplicate = FdFlags.duplicate(SYS, watched.number())) {
      epoll.add(watched.number(), IN, 1);
      watched.signal();
      assertThat(epoll.await(batch, FOREVER)).isEqualTo(1);

      assertThat(epoll.delete(watched.number())).isZero();
      assertThat(epoll.delete(watched.number())).isEqualTo(-Errno.ENOENT);
      watched.close();

      assertThat(duplicate.isOpen()).isTrue();
      assertThat(epoll.await(batch, 0)).isZero();
    }
  }

  @Test
  void mistakesAreReturned() {
    assertThat(epoll.add(bell.number(), IN, 1)).isZero();
    assertThat(epoll.add(bell.number(), IN, 1)).isEqualTo(-Errno.EEXIST);
    assertThat(epoll.add(1_000_000, IN, 1)).isEqualTo(-Errno.EBADF);
    assertThat(epoll.modify(epoll.number(), IN, 1)).isEqualTo(-Errno.EINVAL);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 50_000, 333_333, 1_000_001, 20_000_000, 1_000_000_001})
  void aTimeoutIsNeverEarly(long nanos) {
    int times = nanos < 5_000_000 ? 20 : 1;
    for (int i = 0; i < times; i++) {
      long start = System.nanoTime();
      assertThat(epoll.await(batch, nanos)).isZero();
      assertThat(System.nanoTime() - start).isBetween(nanos, nanos + TimeUnit.SECONDS.toNanos(20));
    }
  }

  @Test
  void withoutATimeoutItWaitsForTheEvent() throws Exception {
    epoll.add(bell.number(), IN, 5);
    OnThread<Integer> waiter = OnThread.call(() -> epoll.await(batch, FOREVER));

    bell.signal();

    assertThat(waiter.result()).isEqualTo(1);
    assertThat(batch.token(0)).isEqualTo(5);
  }

  @Test
  void inMillisecondsItWaitsToo() {
    epoll.add(bell.number(), IN, 9);
    long start = System.nanoTime();
    assertThat(epoll.awaitMillis(batch, 3)).isZero();
    assertThat(System.nanoTime() - start).isGreaterThanOrEqualTo(3_000_000);

    bell.signal();

    assertThat(epoll.awaitMillis(batch, -1)).isEqualTo(1);
    assertThat(batch.token(0)).isEqualTo(9);
  }

  @Test
  void itIsCloseOnExec() throws ErrnoException {
    assertThat(FdFlags.isCloseOnExec(SYS, epoll.number())).isTrue();
  }
}
