package dev.belfry.admin;

import dev.belfry.testkit.RawHttp;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** A minimal HTTP client that works over any socket and sends whatever it is told to. */
final class RawClient {
  private RawClient() {}

  static Answered send(
      SocketAddress server, String method, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    try (SocketChannel channel = SocketChannel.open(server)) {
      return send(channel, method, path, headers, body);
    }
  }

  static Answered send(
      SocketChannel channel, String method, String path, Map<String, String> headers, byte[] body)
      throws IOException {
    var head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    var all = new TreeMap<>(headers);
    all.putIfAbsent("Host", "localhost");
    all.forEach((name, value) -> head.append(name).append(": ").append(value).append("\r\n"));
    head.append("Content-Length: ").append(body.length).append("\r\n\r\n");
    RawHttp.write(channel, head.toString().getBytes(StandardCharsets.ISO_8859_1));
    RawHttp.write(channel, body);
    return parse(RawHttp.readAll(channel));
  }

  static Answered parse(String text) throws IOException {
    int end = text.indexOf("\r\n\r\n");
    if (end < 0) {
      throw new IOException("no answer but '" + text + "'");
    }
    var headers = new TreeMap<String, String>();
    String[] lines = text.substring(0, end).split("\r\n", -1);
    for (int i = 1; i < lines.length; i++) {
      String[] header = lines[i].split(": *", 2);
      headers.put(header[0].toLowerCase(Locale.ROOT), header[1]);
    }
    return new Answered(
        Integer.parseInt(lines[0].split(" ", -1)[1]), headers, text.substring(end + 4));
  }
}
