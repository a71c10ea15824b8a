package dev.belfry.gateway;

import static dev.belfry.gateway.Running.json;
import static dev.belfry.gateway.Running.kill;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import tools.jackson.databind.JsonNode;

/** What a client sees when a worker dies. */
@Timeout(120)
final class DeathsTest {
  private static CompletableFuture<HttpResponse<byte[]>> begin(
      Running running, HttpRequest.Builder request) {
    CompletableFuture<HttpResponse<byte[]>> response =
        running.client.sendAsync(request.build(), BodyHandlers.ofByteArray());
    await().until(() -> running.inFlight() == 1);
    return response;
  }

  @Test
  void atLeastOnceAnotherWorkerAnswers() throws Exception {
    try (Running running = Running.open()) {
      String pid = running.text(running.call("pid", ""));
      CompletableFuture<HttpResponse<byte[]>> answer =
          begin(running, running.call("sleep", "1000"));
      kill(pid);
      assertThat(answer.get().statusCode()).isEqualTo(200);
      assertThat(new String(answer.get().body(), UTF_8)).isEqualTo("slept");
      assertThat(running.pool.status().deaths()).isEqualTo(1);
    }
  }

  @Test
  void atMostOnceItIs502WithTheExitStatus() throws Exception {
    try (Running running = Running.open()) {
      String pid = running.text(running.call("pid", ""));
      CompletableFuture<HttpResponse<byte[]>> answer =
          begin(running, running.call("sleep", "60000").header("Belfry-Delivery", "at-most-once"));
      kill(pid);
      assertThat(answer.get().statusCode()).isEqualTo(502);
      JsonNode body = json(answer.get());
      assertThat(body.get("error").asString()).isEqualTo("worker_died");
      assertThat(body.get("worker").get("exit_status").asInt()).isEqualTo(137);
      assertThat(body.get("worker").get("pid").asString()).isEqualTo(pid);
      assertThat(body.get("worker").get("how").asString()).isEqualTo("killed by SIGKILL");
      assertThat(body.get("worker").has("error_tail")).isFalse();
      assertThat(running.text(running.call("upper", "others go on"))).isEqualTo("OTHERS GO ON");
    }
  }

  @Test
  void aCallThatKillsEveryWorkerIs502WithTheirLastWords() throws Exception {
    try (Running running =
        Running.open(Running.pool().attempts(2).crashLimit(9), Running.options())) {
      running.text(running.call("upper", "once, so that it has served"));
      HttpResponse<byte[]> response = running.send(running.call("crash", "poison"));
      assertThat(response.statusCode()).isEqualTo(502);
      JsonNode body = json(response);
      assertThat(body.get("error").asString()).isEqualTo("dead_letter");
      assertThat(body.get("attempts").asInt()).isEqualTo(2);
      assertThat(body.get("worker").get("exit_status").asInt()).isEqualTo(137);
      assertThat(body.get("worker").get("error_tail").asString())
          .contains("about to crash: poison");
    }
  }
}
