package dev.belfry.loop;

import static dev.belfry.loop.SignalWaitState.CANCELED;
import static dev.belfry.loop.SignalWaitState.NOTIFIED;
import static dev.belfry.loop.SignalWaitState.RESUMED;
import static dev.belfry.loop.SignalWaitState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class SignalWaitStateTest {
  private record Change(SignalWaitState from, SignalWaitState to) {}

  private static final List<Change> ALLOWED =
      List.of(
          new Change(WAITING, NOTIFIED),
          new Change(WAITING, CANCELED),
          new Change(NOTIFIED, RESUMED),
          new Change(NOTIFIED, CANCELED));

  // r[verify sig.state.machine]
  @Test
  void onlyTheAllowedChangesHappen() {
    for (SignalWaitState from : SignalWaitState.values()) {
      for (SignalWaitState to : SignalWaitState.values()) {
        if (ALLOWED.contains(new Change(from, to))) {
          assertThat(from.to(to)).isEqualTo(to);
        } else {
          assertThatIllegalStateException().isThrownBy(() -> from.to(to));
        }
      }
    }
  }
}
