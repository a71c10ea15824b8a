package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.signals.Platform;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Signals that Windows lacks can be raised over HTTP. */
@Timeout(60)
final class WindowsSmokeTest {
  // r[verify signals.http.windows]
  // r[verify signals.fallback.http-instead]
  // r[verify signals.test.windows-smoke]
  @Test
  void theEndpointRunsWhatTheOperatingSystemCannotDeliver() throws Exception {
    try (Host host = Host.open(Transport.PLAIN, Platform.WINDOWS)) {
      var calls = new AtomicInteger();
      host.test.signals().handle("USR1", _ -> calls.incrementAndGet());
      host.test.signals().onReload(List::of);
      host.test.inject("USR1");
      assertThat(calls).hasValue(0);

      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      await().until(() -> calls.get() == 1);
      Answered answered = host.signal("{\"signal\": \"HUP\", \"reason\": \"test reload\"}");
      assertThat(answered.json().get("status").asString()).isEqualTo("accepted");
      await().until(() -> host.test.exits().equals(List.of(129)));
    }
  }
}
