package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A guest whose entry changes in a way that no correct guest changes it. */
@Timeout(120)
final class ChangedEntryTest {
  @TempDir private static Path programs;
  private static List<String> stepping;

  private final Notices notices = new Notices();

  @BeforeAll
  static void compile() throws Exception {
    stepping = new CGuests(programs).stepping();
  }

  /** What an entry that is Attached with epoch 1 is made to hold. */
  record Forgery(String name, int state, int epoch) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Arguments> forgeries() {
    return Stream.of(Placement.values())
        .flatMap(
            placement ->
                Stream.of(
                        new Forgery("the next epoch", 1, 2),
                        new Forgery("an earlier epoch", 1, 0),
                        new Forgery("Empty", 0, 1),
                        new Forgery("Reserved", 3, 1),
                        new Forgery("no state", 4, 1),
                        new Forgery("Goodbye of another", 2, 2))
                    .map(forgery -> Arguments.of(placement, forgery)));
  }

  // r[verify shm.crash.epoch]
  // r[verify shm.segment.peer-state]
  @ParameterizedTest
  @MethodSource("forgeries")
  void aGuestWhoseEntryWasChangedIsThrownOut(Placement placement, Forgery forgery)
      throws Exception {
    try (HostFixture fixture = HostFixture.of(placement)) {
      Segment segment = fixture.host().segment();
      try (SteppedGuest _ = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
        assertThat(notices.next()).isEqualTo("attached");
        segment
            .memory()
            .mapping()
            .set(
                ValueLayout.JAVA_LONG,
                segment.layout().stateAndEpoch(1),
                forgery.state | (long) forgery.epoch << 32);
        assertThat(notices.next()).isEqualTo("dying VIOLATION");
        assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
      }
      fixture.assertAllFree();
      try (SteppedGuest next = SteppedGuest.attached(fixture.host(), stepping, notices.options())) {
        assertThat(next.peer().id()).isEqualTo(1);
        assertThat(segment.peers().epoch(1)).isEqualTo(2);
        next.kill();
      }
    }
  }
}
