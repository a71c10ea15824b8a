package dev.belfry.signals.ways;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalSupport;
import dev.belfry.signals.Signals;
import dev.belfry.signals.SignalsTesting;
import dev.belfry.signals.Support;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The library as a program outside the package sees it: only its public API. */
final class EntryPointTest {
  // r[verify signals.lib.module]
  // r[verify signals.lib.test-helpers]
  @Test
  void everythingIsReachedFromOneClass() {
    assertThat(Signals.resolve("term").orElseThrow().exitCode(Platform.LINUX)).isEqualTo(143);
    try (SignalsTesting test = SignalsTesting.open()) {
      var calls = new AtomicInteger();
      Signals signals = test.signals();
      signals.handle("USR1", _ -> calls.incrementAndGet());
      signals.onShutdown("cleanup", calls::incrementAndGet);
      signals.onReload(List::of);
      test.inject("USR1");
      test.inject("HUP");
      assertThat(calls).hasValue(2);
      assertThat(test.exits()).containsExactly(129);
      assertThat(signals.catalog().names()).isEqualTo(Signals.list());
    }
  }

  // r[verify signals.supports.reporting]
  @Test
  void oneCallListsEachSignalWithItsSupportAndFallback() {
    List<SignalSupport> windows = SignalCatalog.bundled().supportOn(Platform.WINDOWS);
    assertThat(windows).extracting(it -> it.signal().name()).isEqualTo(Signals.list());
    assertThat(windows)
        .allSatisfy(
            it ->
                assertThat(it.fallback().isPresent())
                    .isEqualTo(it.support() == Support.UNSUPPORTED));
    assertThat(SignalCatalog.bundled().supportOn(Platform.LINUX))
        .allSatisfy(it -> assertThat(it.support()).isEqualTo(Support.NATIVE));
  }
}
