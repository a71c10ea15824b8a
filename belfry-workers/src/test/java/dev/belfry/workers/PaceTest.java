package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

final class PaceTest {
  private static final long SHORT = Pace.SHORT_NANOS - 1;
  private static final long LONG = Pace.SHORT_NANOS;

  private final Pace pace = new Pace();

  private void took(long nanos, int times) {
    for (int i = 0; i < times; i++) {
      pace.took(nanos);
    }
  }

  @Test
  void callsAreShortAfterSomeWere() {
    took(SHORT, 15);
    assertThat(pace.isShort()).isFalse();
    took(SHORT, 1);
    assertThat(pace.isShort()).isTrue();
  }

  @Test
  void oneLongCallAmongManyShortOnesIsNoMatter() {
    took(SHORT, 1_000);
    for (int i = 0; i < 100; i++) {
      took(LONG, 1);
      assertThat(pace.isShort()).isTrue();
      took(SHORT, 8);
    }
  }

  @Test
  void severalLongCallsInARowAre() {
    took(SHORT, 1_000);
    took(LONG, 3);
    assertThat(pace.isShort()).isFalse();
    took(LONG, 1_000);
    took(SHORT, 16);
    assertThat(pace.isShort()).isTrue();
  }

  @Test
  void someAreHandedOverHoweverShort() {
    Pace never = Pace.neverShort();
    for (int i = 0; i < 1_000; i++) {
      never.took(0);
    }
    assertThat(never.isShort()).isFalse();
  }
}
