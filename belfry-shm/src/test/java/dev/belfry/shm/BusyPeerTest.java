package dev.belfry.shm;

import static dev.belfry.shm.Sides.CONFIG;
import static dev.belfry.shm.Sides.payload;
import static dev.belfry.shm.Sides.send;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** In the padded placement only a peer that sleeps costs its sender a system call. */
final class BusyPeerTest {
  private static final List<String> CALLS = List.of("futex", "futexWaitv", "send");

  private final SysTap tap = SysTap.over(Sys.forAnyThread());
  private final Message message = new Message();

  private long calls() {
    return CALLS.stream().mapToLong(tap::calls).sum();
  }

  private void exchange(Link sender, Link receiver) {
    for (int i = 0; i < 1000; i++) {
      assertThat(send(sender, i, payload(i, i))).isEqualTo(SendResult.SENT);
      assertThat(receiver.inbox().receive(message)).isTrue();
    }
  }

  // r[verify shm.placement.padded]
  @ParameterizedTest
  @EnumSource
  void whoeverSendsToABusyPeerMakesNoSystemCall(Direction direction) throws Exception {
    Doorbell.Pair bells = Doorbell.pair(tap.sys());
    try (Sides sides = Sides.of(tap.sys(), Placement.PADDED, CONFIG, WaitStrategy.ADAPTIVE)) {
      int peer = sides.host.peers().reserve();
      Link guest = Link.claim(sides.guest, peer, WaitStrategy.ADAPTIVE, bells.guest());
      Link host = Link.toGuest(sides.host, peer, WaitStrategy.ADAPTIVE, bells.host(), true);
      Link sender = direction == Direction.TO_HOST ? guest : host;
      Link receiver = direction == Direction.TO_HOST ? host : guest;
      exchange(sender, receiver);
      assertThat(calls()).isZero();

      receiver.inbox().listen(); // asleep at its bell: rung for once
      exchange(sender, receiver);
      assertThat(tap.calls("send")).isEqualTo(1);

      receiver.inbox().ring().armData(); // asleep on its futex: woken once
      exchange(sender, receiver);
      assertThat(tap.calls("futex")).isEqualTo(1);
      assertThat(calls()).isEqualTo(2);
    } finally {
      bells.host().close();
      bells.guest().close();
    }
  }

  private static int[] flags(Sides sides) {
    SegmentLayout layout = sides.host.layout();
    return Stream.of(Direction.values())
        .flatMapToLong(it -> LongStream.of(layout.dataSleeper(1, it), layout.spaceSleeper(1, it)))
        .mapToInt(flag -> sides.bytes().get(JAVA_INT, flag))
        .toArray();
  }

  /** To its peer this means that it need not even look. The next guest may sleep. */
  // r[verify shm.placement.padded]
  // r[verify shm.crash.recovery]
  @Test
  void whoeverNeverSleepsSaysSoAndLeavesNoWordOfItBehind() throws Exception {
    try (Sides sides = Sides.of(tap.sys(), Placement.PADDED, CONFIG, WaitStrategy.SPIN)) {
      assertThat(flags(sides)).containsOnly(Ring.SPINS);
      for (Direction direction : Direction.values()) {
        exchange(sides.sender(direction), sides.receiver(direction));
      }
      assertThat(calls()).isZero();
      assertThat(sides.host.peers().leave(1, 1)).isTrue();
      sides.host.peers().recover(1);
      assertThat(flags(sides)).containsOnly(Ring.AWAKE);
    }
  }
}
