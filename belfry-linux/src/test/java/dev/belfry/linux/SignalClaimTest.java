package dev.belfry.linux;

import static dev.belfry.linux.Signo.HUP;
import static dev.belfry.linux.Signo.INT;
import static dev.belfry.linux.Signo.TERM;
import static dev.belfry.linux.Signo.USR1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which claim holds which signal; nothing here touches a signal. */
final class SignalClaimTest {
  private final List<String> told = new ArrayList<>();

  private SignalClaim take(String name, int... signals) {
    return SignalClaim.take(SigSet.of(signals), held -> told.add(name + held));
  }

  private List<String> takeTold() {
    List<String> copy = List.copyOf(told);
    told.clear();
    return copy;
  }

  @Test
  void theNewestTakesOverAndGivesBack() {
    try (SignalClaim old = take("old ", INT, TERM)) {
      assertThat(takeTold()).containsExactly("old {SIGINT,SIGTERM}");
      try (SignalClaim young = take("young ", TERM, HUP)) {
        assertThat(takeTold()).containsExactly("old {SIGINT}", "young {SIGHUP,SIGTERM}");
        assertThat(old.held()).isEqualTo(SigSet.of(INT));
        assertThat(young.held()).isEqualTo(SigSet.of(TERM, HUP));
      }
      assertThat(takeTold()).containsExactly("young {}", "old {SIGINT,SIGTERM}");
      assertThat(old.held()).isEqualTo(SigSet.of(INT, TERM));
    }
    assertThat(takeTold()).containsExactly("old {}");
  }

  @Test
  void whoCannotTakeThemGivesThemBackAtOnce() {
    try (SignalClaim old = take("old ", INT)) {
      var refusal = new IllegalStateException("no descriptor left");
      assertThatThrownBy(
              () ->
                  SignalClaim.take(
                      SigSet.of(INT),
                      _ -> {
                        throw refusal;
                      }))
          .isSameAs(refusal);
      assertThat(old.held()).isEqualTo(SigSet.of(INT));
    }
  }

  @Test
  void theSecondCloseDoesNothing() {
    try (SignalClaim old = take("old ", INT)) {
      SignalClaim young = take("young ", INT);
      young.close();
      takeTold();
      young.close();
      assertThat(takeTold()).isEmpty();
      assertThat(young.held()).isEqualTo(SigSet.EMPTY);
      assertThat(old.held()).isEqualTo(SigSet.of(INT));
    }
  }

  @Test
  void whoClosesInTheMiddleChangesNothingForTheOthers() {
    try (SignalClaim bottom = take("bottom ", INT, TERM)) {
      SignalClaim middle = take("middle ", INT, TERM);
      try (SignalClaim top = take("top ", INT, TERM)) {
        takeTold();
        middle.close();
        assertThat(takeTold()).as("the middle one held nothing").isEmpty();
        assertThat(top.held()).isEqualTo(SigSet.of(INT, TERM));
      }
      assertThat(bottom.held()).as("past the closed one").isEqualTo(SigSet.of(INT, TERM));
      assertThat(takeTold()).containsExactly("top {}", "bottom {SIGINT,SIGTERM}");
    }
  }

  @Test
  void theBottomMayCloseFirst() {
    SignalClaim bottom = take("bottom ", INT, USR1);
    try (SignalClaim top = take("top ", INT)) {
      bottom.close();
      takeTold();
      assertThat(top.held()).isEqualTo(SigSet.of(INT));
    }
    assertThat(takeTold()).as("nobody is left to get it back").containsExactly("top {}");
    assertThat(bottom.held()).isEqualTo(SigSet.EMPTY);
  }

  @Test
  void eachSignalGoesBackToItsOwnPreviousHolder() {
    try (SignalClaim one = take("one ", INT, TERM, HUP);
        SignalClaim two = take("two ", TERM)) {
      try (SignalClaim three = take("three ", INT, TERM)) {
        assertThat(one.held()).isEqualTo(SigSet.of(HUP));
        assertThat(two.held()).isEqualTo(SigSet.EMPTY);
        assertThat(three.held()).isEqualTo(SigSet.of(INT, TERM));
        takeTold();
      }
      assertThat(takeTold()).containsExactly("three {}", "one {SIGHUP,SIGINT}", "two {SIGTERM}");
    }
  }

  /** A claim that loses a signal is told before the one that gains it. */
  @Test
  void noSignalEverHasTwoHolders() {
    var holders = new ArrayList<SigSet>(List.of(SigSet.EMPTY, SigSet.EMPTY, SigSet.EMPTY));
    var claims = new ArrayList<SignalClaim>();
    SigSet[] wanted = {SigSet.of(INT, TERM), SigSet.of(TERM, HUP), SigSet.of(HUP, INT)};
    for (int i = 0; i < wanted.length; i++) {
      int index = i;
      claims.add(
          SignalClaim.take(
              wanted[i],
              held -> {
                holders.set(index, held);
                for (int other = 0; other < holders.size(); other++) {
                  if (other != index) {
                    assertThat(held.minus(holders.get(other))).isEqualTo(held);
                  }
                }
              }));
    }
    for (int i : new int[] {2, 0, 1}) {
      claims.get(i).close();
    }
    assertThat(holders).containsOnly(SigSet.EMPTY);
  }
}
