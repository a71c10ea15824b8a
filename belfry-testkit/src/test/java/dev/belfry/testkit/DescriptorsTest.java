package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Fd;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class DescriptorsTest {
  @Test
  void whatWasOpenedSinceIsListedUntilItIsClosed() throws Exception {
    Descriptors before = Descriptors.now();
    assertThat(before.openedSince()).isEmpty();
    try (Fd file = SharedFile.createAnonymous(Sys.forAnyThread(), "counted")) {
      assertThat(before.openedSince(Duration.ZERO))
          .containsAllEntriesOf(Map.of(file.number(), "/memfd:counted (deleted)"));
      assertThat(Descriptors.now().targets()).containsKey(file.number());
      assertThat(Descriptors.now().count()).isGreaterThan(before.count());
    }
    assertThat(before.openedSince()).isEmpty();
  }
}
