package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class OpenApiTest {
  /** The routes for programs. Those of the console are not part of the interface. */
  private static final List<Route> ROUTES =
      Stream.of(Route.values()).filter(route -> !route.isConsole()).toList();

  @Test
  void theDocumentDescribesTheRoutesThereAre() throws Exception {
    JsonNode document;
    try (var resource = AdminServer.class.getResourceAsStream("openapi.json")) {
      document = JsonMapper.shared().readTree(resource);
    }
    JsonNode paths = document.get("paths");
    assertThat(paths.propertyNames())
        .containsExactlyInAnyOrderElementsOf(ROUTES.stream().map(Route::path).toList());
    for (Route route : ROUTES) {
      JsonNode operation = paths.get(route.path()).get(route.method().toLowerCase(Locale.ROOT));
      assertThat(operation).as(route.path()).isNotNull();
      assertThat(operation.has("security")).isEqualTo(!route.needsCredentials());
    }
    assertThat(paths.at("/~1admin~1signal/post/responses").propertyNames())
        .containsExactlyInAnyOrder("202", "400", "401", "403", "405", "413", "415", "429");
    assertThat(
            document.at("/components/schemas/SignalRequest/properties/signal/enum").valueStream())
        .extracting(JsonNode::asString)
        .isEqualTo(SignalRequest.SIGNALS);
  }
}
