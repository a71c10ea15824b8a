package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

final class OpenApiTest {
  @Test
  void theDocumentDescribesTheRoutesThereAre() throws Exception {
    JsonNode document;
    try (var resource = AdminServer.class.getResourceAsStream("openapi.json")) {
      document = JsonMapper.shared().readTree(resource);
    }
    JsonNode paths = document.get("paths");
    assertThat(paths.propertyNames())
        .containsExactlyInAnyOrderElementsOf(Stream.of(Route.values()).map(Route::path).toList());
    for (Route route : Route.values()) {
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
