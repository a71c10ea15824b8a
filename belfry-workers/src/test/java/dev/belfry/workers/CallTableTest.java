package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import org.junit.jupiter.api.Test;

final class CallTableTest {
  private static Call call() {
    return new Call("m", 1, new byte[0], CallOptions.DEFAULT, null, new CallMeter(0));
  }

  @Test
  void idsAreNeverZeroAndNotUsedAgainSoon() {
    var table = new CallTable(4);
    var ids = new HashSet<Long>();
    for (int i = 0; i < 100_000; i++) {
      long id = table.add(call());
      assertThat(id).isBetween(1L, 0xffff_ffffL);
      assertThat(ids.add(id)).isTrue();
      assertThat(table.remove(id)).isNotNull();
      assertThat(table.remove(id)).as("a second time").isNull();
    }
  }

  @Test
  void thereIsRoomForSoMany() {
    var table = new CallTable(2);
    long first = table.add(call());
    table.add(call());
    assertThat(table.isFull()).isTrue();
    table.remove(first);
    assertThat(table.isFull()).isFalse();
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void whatIsOnItsWayIsLeftAlone() {
    var table = new CallTable(4);
    Call sent = call();
    long id = table.add(sent);
    table.add(call());
    assertThat(table.markSent(id)).isTrue();
    assertThat(table.removeSent(_ -> true)).containsExactly(sent);
    assertThat(table.size()).isEqualTo(1);
    assertThat(table.markSent(id)).isFalse();
  }
}
