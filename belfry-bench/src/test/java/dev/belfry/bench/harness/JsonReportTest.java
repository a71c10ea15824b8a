package dev.belfry.bench.harness;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.bench.harness.Placement.Distance;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

class JsonReportTest {
  @Test
  void aReportIsOneArrayWithAnObjectForEachContenderAndCircumstance(@TempDir Path directory) {
    var measurements = new Measurements("test");
    var placement = new Placement(Distance.NEAR, 100);
    for (int connections : new int[] {1, 16}) {
      Map<String, Object> params = Map.of("connections", connections);
      measurements.add(new Sample(0, "a", params, Map.of("rate", 10.0), placement));
      measurements.add(new Sample(1, "a", params, Map.of("rate", 30.0), placement));
    }
    Path file = directory.resolve("report.json");

    JsonReport.write(file, measurements);

    JsonNode report = JsonMapper.shared().readTree(file);
    assertThat(report.isArray()).isTrue();
    assertThat(report.size()).isEqualTo(2);
    JsonNode second = report.get(1);
    assertThat(second.propertyNames()).containsExactly("bench", "contender", "params", "metrics");
    assertThat(second.at("/bench").asString()).isEqualTo("test");
    assertThat(second.at("/contender").asString()).isEqualTo("a");
    assertThat(second.at("/params/connections").asInt()).isEqualTo(16);
    assertThat(second.at("/metrics/rate/median").asDouble()).isEqualTo(20);
    assertThat(second.at("/metrics/rate/samples").size()).isEqualTo(2);
    assertThat(second.at("/metrics/placement/0").asString()).isEqualTo("NEAR");
  }
}
