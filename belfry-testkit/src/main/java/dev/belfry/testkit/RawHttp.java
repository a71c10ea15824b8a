package dev.belfry.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Sends a server what no HTTP client would, and reads its response. */
public final class RawHttp {
  private RawHttp() {}

  /** Writes all of the text, in UTF-8. */
  public static void write(SocketChannel channel, String text) throws IOException {
    write(channel, text.getBytes(UTF_8));
  }

  /** Writes all of the bytes. */
  public static void write(SocketChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  /**
   * Writes zeros until the server refuses more or there were enough.
   *
   * @return how many bytes were written
   */
  public static long flood(SocketChannel channel, long enough) {
    ByteBuffer zeros = ByteBuffer.wrap("0".repeat(1 << 16).getBytes(UTF_8));
    long count = 0;
    try {
      while (count < enough) {
        count += channel.write(zeros.clear());
      }
    } catch (IOException refused) {
      // The expected outcome.
    }
    return count;
  }

  /** Reads until the server closes or resets the connection. */
  public static String readAll(SocketChannel channel) {
    var all = new ByteArrayOutputStream();
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    try {
      while (channel.read(buffer.clear()) >= 0) {
        all.write(buffer.array(), 0, buffer.position());
      }
    } catch (IOException reset) {
      // A reset ends it too.
    }
    return all.toString(UTF_8);
  }

  /** Reads until a text has been seen. */
  public static String readUntil(SocketChannel channel, String end) throws IOException {
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
}
