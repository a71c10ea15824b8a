package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class RoundsTest {
  @Test
  void theOrderIsRotatedByOneEachRound() {
    List<String> contenders = List.of("a", "b", "c");
    assertThat(Rounds.order(contenders, 0)).containsExactly("a", "b", "c");
    assertThat(Rounds.order(contenders, 1)).containsExactly("b", "c", "a");
    assertThat(Rounds.order(contenders, 5)).containsExactly("c", "a", "b");
  }
}
