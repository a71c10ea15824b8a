package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ResourceLimitTest {
  private static final Sys SYS = Sys.forAnyThread();

  private static String limit(long value) {
    return value == ResourceLimit.UNLIMITED ? "unlimited" : Long.toString(value);
  }

  private static List<String> inProc(String name) throws IOException {
    return Files.readAllLines(Path.of("/proc/self/limits")).stream()
        .filter(line -> line.startsWith(name))
        .map(line -> List.of(line.substring(name.length()).strip().split("\\s+")).subList(0, 2))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({
    "CORE, Max core file size",
    "DESCRIPTORS, Max open files",
    "ADDRESS_SPACE, Max address space",
    "PENDING_SIGNALS, Max pending signals"
  })
  void itIsWhatProcSays(ResourceLimit limit, String name) throws IOException {
    ResourceLimit.Value value = limit.get(SYS);
    assertThat(List.of(limit(value.soft()), limit(value.hard()))).isEqualTo(inProc(name));
  }

  @Test
  void theSoftLimitCanBeLoweredAndRaisedAgain() throws IOException {
    ResourceLimit.Value before = ResourceLimit.PENDING_SIGNALS.get(SYS);
    var lower = new ResourceLimit.Value(1000, before.hard());
    try {
      ResourceLimit.PENDING_SIGNALS.set(SYS, lower);
      assertThat(ResourceLimit.PENDING_SIGNALS.get(SYS)).isEqualTo(lower);
      assertThat(inProc("Max pending signals").getFirst()).isEqualTo("1000");
    } finally {
      ResourceLimit.PENDING_SIGNALS.set(SYS, before);
    }
    assertThat(ResourceLimit.PENDING_SIGNALS.get(SYS)).isEqualTo(before);
  }

  @Test
  void aSoftLimitAboveTheHardOneIsRefused() {
    assertThatThrownBy(() -> ResourceLimit.DESCRIPTORS.set(SYS, new ResourceLimit.Value(11, 10)))
        .isInstanceOf(ErrnoException.class)
        .hasMessageStartingWith("setrlimit(DESCRIPTORS to ")
        .hasMessageContaining("EINVAL");
  }
}
