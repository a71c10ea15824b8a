package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.HashSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class CallTableTest {
  private static Call call() {
    return new Call("m", 1, new byte[0], CallOptions.DEFAULT, null, null, new CallMeter(0));
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
  void idsBeginAgainBeforeTheyNoLongerFitIntoAMessage() {
    var table = new CallTable(1 << 20); // which leaves 4095 rounds
    for (int i = 0; i < 10_000; i++) {
      long id = table.add(call());
      assertThat(id).isBetween(1L, 0xffff_ffffL);
      assertThat(table.remove(id)).isNotNull();
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
  void someAreTakenOutAndTheOthersStay() {
    var table = new CallTable(4);
    Call wanted = call();
    long id = table.add(wanted);
    long other = table.add(call());
    assertThat(table.removeIf(call -> call == wanted)).containsExactly(wanted);
    assertThat(table.contains(id)).isFalse();
    assertThat(table.contains(other)).isTrue();
    assertThat(table.size()).isEqualTo(1);
  }

  @Test
  void somebodyIsToBeToldUntilTheLastOfThoseCallsIsGone() {
    var table = new CallTable(4);
    long first = table.add(call());
    long second = table.add(call());
    long third = table.add(call());
    assertThat(table.isAnyNoticeWanted()).isFalse();
    table.wantNotice(first);
    table.wantNotice(first);
    table.wantNotice(third);
    table.remove(third);
    table.wantNotice(third);
    table.remove(second);
    assertThat(table.isAnyNoticeWanted()).isTrue();
    table.remove(first);
    assertThat(table.isAnyNoticeWanted()).isFalse();
    table.add(call());
    assertThat(table.isAnyNoticeWanted()).as("of what came into the same place").isFalse();
  }

  /** Order must not depend on ids, which wrap around. */
  @Test
  void whatCameBeforeACallIsKnownWhereverItStands() {
    var table = new CallTable(1 << 16); // with few bits left for the rounds
    long first = table.add(call());
    for (int i = 0; i < (1 << 16) - 3; i++) { // the next is the last of its round
      table.remove(table.add(call()));
    }
    Call wanted = call();
    long second = table.add(wanted);
    table.remove(first);
    long third = table.add(call());
    assertThat(table.isAnyWantedBefore(second)).isFalse();
    assertThat(table.isAnyWantedBefore(third)).isTrue();
    wanted.succeed(new byte[0]);
    assertThat(table.isAnyWantedBefore(third)).isFalse();
  }

  @Test
  void ofThoseWhoseTimeIsOverOnlyTheOpenOnesAreFound() {
    var table = new CallTable(4);
    CallOptions brief = CallOptions.DEFAULT.withDeadline(Duration.ofNanos(1));
    var late = new Call("m", 1, new byte[0], brief, null, null, new CallMeter(0));
    var ended = new Call("m", 1, new byte[0], brief, null, null, new CallMeter(0));
    ended.succeed(new byte[0]);
    table.add(ended);
    table.add(late);
    table.add(call());
    assertThat(table.overdue()).containsExactly(late);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 64, 1000})
  void anIdOfWhateverValueFindsNothingThatItDoesNotName(int capacity) {
    var table = new CallTable(capacity);
    while (!table.isFull()) {
      table.add(call());
    }
    long id = table.removeIf(_ -> true).isEmpty() ? 0 : table.add(call());
    for (long wrong : new long[] {0, 1, id + 1, id ^ 0x8000_0000L, 0xffff_ffffL}) {
      assertThat(table.contains(wrong)).as("%x, not %x", wrong, id).isEqualTo(wrong == id);
    }
    assertThat(table.contains(id)).isTrue();
  }
}
