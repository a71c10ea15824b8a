package dev.belfry.gateway;

import io.helidon.http.HeaderValues;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bodies of requests in memory. There is a limit for each and one for all at the same time, so
 * that no number of clients can fill the heap.
 */
final class Payloads {
  /** Of a body that nobody wants; who sends more may lose the answer. */
  private static final long MOST_DISCARDED = 64 << 20;

  private final long mostBytes;
  private final AtomicLong left;

  Payloads(long mostBytes) {
    this.mostBytes = mostBytes;
    this.left = new AtomicLong(Math.max(mostBytes, Runtime.getRuntime().maxMemory() / 4));
  }

  /** Room for a body, until it is closed. */
  final class Share implements AutoCloseable {
    private final long size;

    private Share(long size) {
      this.size = size;
    }

    @Override
    public void close() {
      left.addAndGet(size);
    }
  }

  /** Room for what a request brings. */
  Share reserve(ServerRequest request) throws Refused {
    long size = request.headers().contentLength().orElse(hasBody(request) ? mostBytes : 0);
    if (size > mostBytes) {
      throw tooLarge();
    }
    if (left.addAndGet(-size) < 0) {
      left.addAndGet(size);
      throw new Refused(Answer.full("Too many bytes are under way"));
    }
    return new Share(size);
  }

  byte[] read(ServerRequest request) throws IOException, Refused {
    if (!hasBody(request)) {
      return new byte[0];
    }
    // It grows with what has come, not by what was announced.
    byte[] bytes = request.content().inputStream().readNBytes((int) mostBytes + 1);
    if (bytes.length > mostBytes) {
      throw tooLarge();
    }
    return bytes;
  }

  private Refused tooLarge() {
    return new Refused(413, "too_large", "A payload has at most %d bytes".formatted(mostBytes));
  }

  /** A socket that is closed with bytes unread is reset, and the client may lose the answer. */
  static void discardRest(ServerRequest request) throws IOException {
    boolean isHeldBack = request.headers().contains(HeaderValues.EXPECT_100);
    if (!hasBody(request) || (isHeldBack && !request.continueSent())) {
      return;
    }
    InputStream rest = request.content().inputStream();
    byte[] buffer = new byte[8192];
    long count = 0;
    int length = 0;
    while (length >= 0 && count < MOST_DISCARDED) {
      length = rest.read(buffer);
      count += length;
    }
  }

  private static boolean hasBody(ServerRequest request) {
    return request.content().hasEntity();
  }
}
