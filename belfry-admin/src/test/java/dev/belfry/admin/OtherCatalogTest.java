package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalCatalog;
import dev.belfry.signals.SignalsTesting;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class OtherCatalogTest {
  private static final Identity OPERATOR = new Identity("operator", "operator");

  @Test
  void aSignalThatTheCatalogInUseLacksIsRefused() throws Exception {
    SignalCatalog catalog;
    try (var resource = SignalCatalog.class.getResourceAsStream("signals.yaml")) {
      String text = new String(resource.readAllBytes(), UTF_8).replace("SIGUSR2", "SIGBELL");
      catalog = SignalCatalog.parse(text, "without USR2");
    }
    try (SignalsTesting test = SignalsTesting.open(catalog, Platform.LINUX)) {
      var surface =
          new Surface(
              test.signals(),
              new ClientBudgets(10, System::nanoTime),
              new PrometheusMeterRegistry(PrometheusConfig.DEFAULT),
              () -> true);
      assertThat(surface.answer(Route.SIGNAL, OPERATOR, new Text("USR1"), "id").status())
          .isEqualTo(202);
      Answer refused = surface.answer(Route.SIGNAL, OPERATOR, new Text("USR2"), "id");
      assertThat(refused.status()).isEqualTo(400);
      assertThat(refused.body()).contains("invalid_signal", "has no SIGUSR2");
    }
  }

  private record Text(String signal) implements Surface.Body {
    @Override
    public Optional<String> contentType() {
      return Optional.of("application/json");
    }

    @Override
    public byte[] read(int limit) throws IOException {
      return "{\"signal\": \"%s\"}".formatted(signal).getBytes(UTF_8);
    }
  }
}
