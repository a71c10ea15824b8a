package dev.belfry.loop;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.belfry.linux.Signo;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SignalSetTest {

  // r[verify sig.await.api]
  @Test
  void signalsAreAddedAndRemovedInAChain() {
    SignalSet set = SignalSet.of(Signo.TERM).add(Signo.HUP).add(40).remove(Signo.TERM);

    assertThat(set.contains(Signo.HUP)).isTrue();
    assertThat(set.contains(40)).isTrue();
    assertThat(set.contains(Signo.TERM)).isFalse();
    assertThat(set).isEqualTo(SignalSet.of(40, Signo.HUP)).hasToString("{SIGHUP,SIGRTMIN+6}");
    assertThat(SignalSet.of().isEmpty()).isTrue();
  }

  // r[verify sig.await.api]
  @Test
  void theNativeViewHasABitForEachSignal() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment sigset = SignalSet.of(1, 10, 61).toNative(arena);

      assertThat(sigset.byteSize()).isEqualTo(128);
      byte[] expected = new byte[128];
      expected[0] = 0b0000_0001;
      expected[1] = 0b0000_0010;
      expected[7] = 0b0001_0000;
      assertThat(sigset.toArray(JAVA_BYTE)).isEqualTo(expected);
    }
  }

  // r[verify sig.await.api]
  @ParameterizedTest
  @ValueSource(ints = {0, -1, 65})
  void whatIsNoSignalIsRefused(int signum) {
    assertThatIllegalArgumentException().isThrownBy(() -> SignalSet.of().add(signum));
    assertThatIllegalArgumentException().isThrownBy(() -> SignalSet.of().remove(signum));
    assertThatIllegalArgumentException().isThrownBy(() -> SignalSet.of().contains(signum));
  }

  // r[verify sig.attach]
  @ParameterizedTest
  @CsvSource({
    "9, SIGKILL (9) cannot be waited for: the kernel lets nobody handle it",
    "19, SIGSTOP (19) cannot be waited for: the kernel lets nobody handle it",
    "4, the JVM needs it",
    "5, the JVM needs it",
    "7, the JVM needs it",
    "8, the JVM needs it",
    "11, the JVM needs it",
    "31, the JVM needs it",
    "32, the C library uses it",
    "33, the C library uses it",
    "62, the JDK wakes threads with it"
  })
  void whatCannotBeHadIsRefusedWithTheReason(int signum, String reason) {
    SignalSet set = SignalSet.of(Signo.HUP);
    assertThatIllegalArgumentException()
        .isThrownBy(() -> set.add(signum))
        .withMessageContaining(reason);
    assertThat(set).isEqualTo(SignalSet.of(Signo.HUP));
  }
}
