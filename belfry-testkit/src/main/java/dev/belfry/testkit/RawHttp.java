package dev.belfry.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Sends to a server what no client would, and reads what it makes of it. */
public final class RawHttp {
  private RawHttp() {}

  /** All of it, in UTF-8. */
  public static void write(SocketChannel channel, String text) throws IOException {
    write(channel, text.getBytes(UTF_8));
  }

  /** All of it. */
  public static void write(SocketChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
  }

  /**
   * Zeros until the server refuses more, or there were enough.
   *
   * @return how many went out
   */
  public static long flood(SocketChannel channel, long enough) {
    ByteBuffer zeros = ByteBuffer.wrap("0".repeat(1 << 16).getBytes(UTF_8));
    long count = 0;
    try {
      while (count < enough) {
        count += channel.write(zeros.clear());
      }
    } catch (IOException refused) {
      // That is what is wanted.
    }
    return count;
  }

  /** Everything until the server closes, or resets. */
  public static String readAll(SocketChannel channel) {
    var all = new ByteArrayOutputStream();
    ByteBuffer buffer = ByteBuffer.allocate(4096);
    try {
      while (channel.read(buffer.clear()) >= 0) {
        all.write(buffer.array(), 0, buffer.position());
      }
    } catch (IOException reset) {
      // That is an end too.
    }
    return all.toString(UTF_8);
  }

  /** Reads until that was seen. */
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
