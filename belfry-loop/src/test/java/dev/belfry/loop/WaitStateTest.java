package dev.belfry.loop;

import static dev.belfry.loop.WaitState.CANCELED;
import static dev.belfry.loop.WaitState.NOTIFIED;
import static dev.belfry.loop.WaitState.RESUMED;
import static dev.belfry.loop.WaitState.WAITING;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class WaitStateTest {
  private record Change(WaitState from, WaitState to) {}

  private static final List<Change> ALLOWED =
      List.of(
          new Change(WAITING, NOTIFIED),
          new Change(WAITING, CANCELED),
          new Change(NOTIFIED, RESUMED),
          new Change(NOTIFIED, CANCELED));

  // r[verify sig.state.machine]
  @Test
  void onlyTheAllowedChangesHappen() {
    for (WaitState from : WaitState.values()) {
      for (WaitState to : WaitState.values()) {
        if (ALLOWED.contains(new Change(from, to))) {
          assertThat(from.to(to)).isEqualTo(to);
        } else {
          assertThatIllegalStateException().isThrownBy(() -> from.to(to));
        }
      }
    }
  }
}
