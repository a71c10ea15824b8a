package dev.belfry.gateway;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** What other clients will not send. */
final class Raw {
  private Raw() {}

  static void write(SocketChannel channel, String text) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(text.getBytes(ISO_8859_1));
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  /** Everything until the server closes, or resets. */
  static String readAll(SocketChannel channel) {
    var all = new ByteArrayOutputStream();
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    try {
      while (channel.read(buffer.clear()) >= 0) {
        all.write(buffer.array(), 0, buffer.position());
      }
    } catch (IOException reset) {
      // That is an end too.
    }
    return all.toString(ISO_8859_1);
  }

  /** Reads until that was seen. */
  static String readUntil(SocketChannel channel, String end) throws IOException {
    var text = new StringBuilder();
    ByteBuffer one = ByteBuffer.allocate(1);
    while (text.indexOf(end) < 0) {
      if (channel.read(one.clear()) < 0) {
        throw new IOException("the end after: " + text);
      }
      text.append((char) one.get(0));
    }
    return text.toString();
  }

  /** A request with its body, to be sent as it is. */
  static String post(String method, String headers, String body) {
    return "POST /call/%s HTTP/1.1\r\nHost: localhost\r\n%sContent-Length: %d\r\n\r\n%s"
        .formatted(method, headers, body.length(), body);
  }
}
