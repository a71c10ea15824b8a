package dev.belfry.examples;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalCatalog;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** Asks another process to reload, by the means that the platform offers. */
final class AskForReload {
  private AskForReload() {}

  public static void main(String[] args) throws Exception {
    Platform platform = args.length > 2 ? Platform.valueOf(args[2]) : Platform.current();
    System.out.println(ask(platform, args[0], URI.create(args[1]), System.getenv("ADMIN_TOKEN")));
  }

  // @start region="ask-for-reload"
  /** By a signal where there is one, else over HTTP; returns how it went. */
  static String ask(Platform platform, String pid, URI admin, String token)
      throws IOException, InterruptedException {
    if (SignalCatalog.bundled().supports("HUP", platform)) {
      return "kill: " + new ProcessBuilder("kill", "-HUP", pid).inheritIO().start().waitFor();
    }
    HttpRequest request =
        HttpRequest.newBuilder(admin.resolve("/admin/signal"))
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .POST(BodyPublishers.ofString("{\"signal\": \"HUP\", \"reason\": \"new config\"}"))
            .build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return "http: " + client.send(request, BodyHandlers.ofString()).statusCode();
    }
  }
  // @end
}
