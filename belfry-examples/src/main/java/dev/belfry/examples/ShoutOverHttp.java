package dev.belfry.examples;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.gateway.Gateway;
import dev.belfry.gateway.GatewayOptions;
import dev.belfry.workers.JavaWorker;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.WorkerPool;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;

/** Offers shouting to HTTP clients, and is its own first client. */
final class ShoutOverHttp {
  private ShoutOverHttp() {}

  public static void main(String[] args) throws Exception {
    PoolOptions workers = PoolOptions.of(JavaWorker.of(Shout.Shouter.class, "-Xmx64m"));
    var anyPort = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    // @start region="gateway"
    try (WorkerPool pool = WorkerPool.open(workers);
        Gateway gateway = Gateway.open(new GatewayOptions().address(anyPort), pool)) {
      System.out.println(post(gateway.port(), "/call/shout", "is anybody there?"));
    }
    // @end
  }

  private static String post(int port, String path, String text) throws Exception {
    URI uri = URI.create("http://127.0.0.1:" + port + path);
    HttpRequest request =
        HttpRequest.newBuilder(uri).POST(BodyPublishers.ofString(text, UTF_8)).build();
    try (HttpClient client = HttpClient.newHttpClient()) {
      return client.send(request, BodyHandlers.ofString(UTF_8)).body();
    }
  }
}
