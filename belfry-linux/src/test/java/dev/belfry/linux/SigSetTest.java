package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.Test;

final class SigSetTest {
  @Test
  void aSignalIsTheBitBelowItsNumber() {
    assertThat(SigSet.of(1).bits()).isEqualTo(1);
    assertThat(SigSet.of(64).bits()).isEqualTo(Long.MIN_VALUE);
    assertThat(SigSet.of(Signo.HUP, Signo.USR1, 34).bits()).isEqualTo(0x2_0000_0201L);
    assertThat(SigSet.of()).isEqualTo(SigSet.EMPTY);
    assertThat(SigSet.range(1, 64)).isEqualTo(SigSet.ALL);
    assertThat(SigSet.range(34, 61).signals()).hasSize(28).startsWith(34).endsWith(61);
  }

  @Test
  void setsAddUpAndSubtract() {
    SigSet set = SigSet.of(Signo.INT, Signo.TERM);
    assertThat(set.with(Signo.HUP)).isEqualTo(SigSet.of(Signo.HUP, Signo.INT, Signo.TERM));
    assertThat(set.without(Signo.INT)).isEqualTo(SigSet.of(Signo.TERM));
    assertThat(set.without(Signo.HUP)).isEqualTo(set);
    assertThat(set.union(SigSet.of(Signo.HUP, Signo.INT)).signals()).containsExactly(1, 2, 15);
    assertThat(set.minus(SigSet.of(Signo.INT, Signo.HUP)).signals()).containsExactly(15);
    assertThat(set.contains(Signo.INT)).isTrue();
    assertThat(set.contains(Signo.HUP)).isFalse();
    assertThat(SigSet.EMPTY.isEmpty()).isTrue();
    assertThat(set.isEmpty()).isFalse();
  }

  @Test
  void itReadsWhatProcWrites() {
    assertThat(SigSet.ofHex("0000000000004002\n")).isEqualTo(SigSet.of(Signo.INT, Signo.TERM));
    assertThat(SigSet.ofHex("ffffffffffffffff")).isEqualTo(SigSet.ALL);
  }

  @Test
  void itNamesItsSignals() {
    assertThat(SigSet.of(Signo.TERM, 34, 40, 64, 32))
        .hasToString("{SIGTERM,signal 32,SIGRTMIN,SIGRTMIN+6,SIGRTMAX}");
    assertThat(SigSet.EMPTY).hasToString("{}");
  }

  @Test
  void toTheKernelItIs128BytesOfWhichEightCount() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sigset = SigSet.of(2, 64).toNative(arena);
      assertThat(sigset.byteSize()).isEqualTo(128);
      assertThat(sigset.get(ValueLayout.JAVA_LONG, 0)).isEqualTo(0x8000_0000_0000_0002L);
      assertThat(sigset.asSlice(8).mismatch(arena.allocate(120))).isEqualTo(-1);
      assertThat(SigSet.ofNative(sigset)).isEqualTo(SigSet.of(2, 64));
    }
  }

  @Test
  void otherNumbersAreNoSignals() {
    for (int number : new int[] {Integer.MIN_VALUE, -1, 0, 65, Integer.MAX_VALUE}) {
      assertThatThrownBy(() -> SigSet.of(number))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining(Integer.toString(number));
      assertThatThrownBy(() -> SigSet.EMPTY.contains(number))
          .isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void theLaunchersSignalsAreTheSpecifiedOnes() {
    assertThat(SignalLaunch.SIGNALS)
        .isEqualTo(SigSet.of(1, 2, 3, 10, 12, 13, 14, 15, 17).union(SigSet.range(34, 61)));
  }

  @Test
  void aSetContainsAllOfAnotherOrNot() {
    assertThat(SigSet.of(1, 64).containsAll(SigSet.of(64))).isTrue();
    assertThat(SigSet.of(1, 64).containsAll(SigSet.EMPTY)).isTrue();
    assertThat(SigSet.of(1, 64).containsAll(SigSet.of(1, 2))).isFalse();
  }
}
