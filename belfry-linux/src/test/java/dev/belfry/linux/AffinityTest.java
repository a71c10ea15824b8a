package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.junit.jupiter.api.Test;

final class AffinityTest {
  private static final Sys SYS = Sys.forAnyThread();

  @Test
  void aThreadCanBeKeptOnOneProcessor() throws Exception {
    BitSet all = Affinity.get(SYS, Affinity.THIS_THREAD);
    assertThat(all.cardinality()).isGreaterThanOrEqualTo(1);
    int last = all.length() - 1;
    var one = new BitSet();
    one.set(last);

    OnThread<String> pinned =
        OnThread.call(
            () -> {
              Affinity.set(SYS, Affinity.THIS_THREAD, one);
              assertThat(Affinity.get(SYS, Affinity.THIS_THREAD)).isEqualTo(one);
              return Files.readAllLines(Path.of("/proc/thread-self/status")).stream()
                  .filter(line -> line.startsWith("Cpus_allowed_list:"))
                  .findFirst()
                  .orElseThrow();
            });

    assertThat(pinned.result()).isEqualTo("Cpus_allowed_list:\t" + last);
    assertThat(Affinity.get(SYS, Affinity.THIS_THREAD)).as("others stay").isEqualTo(all);
  }

  @Test
  void noProcessorAtAllIsRefused() {
    assertThatThrownBy(() -> Affinity.set(SYS, Affinity.THIS_THREAD, new BitSet()))
        .isInstanceOf(ErrnoException.class)
        .hasMessageStartingWith("sched_setaffinity(thread 0 to processors {}): EINVAL");
    assertThatThrownBy(() -> Affinity.get(SYS, Integer.MAX_VALUE))
        .hasMessageStartingWith("sched_getaffinity(thread 2147483647): ESRCH");
  }
}
