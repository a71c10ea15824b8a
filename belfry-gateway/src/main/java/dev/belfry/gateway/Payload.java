package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderValues;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The body of a request, which takes up memory until it is closed. */
final class Payload implements AutoCloseable {
  /** Of a body that nobody wants; who sends more may lose the answer. */
  private static final long MOST_DISCARDED = 64 << 20;

  private static final int AT_ONCE = 8192;

  private final ServerRequest request;
  private final Memory memory;
  private @Nullable InputStream stream;
  private long taken;

  Payload(ServerRequest request, Memory memory) {
    this.request = request;
    this.memory = memory;
  }

  byte[] read() throws IOException, Refused {
    long most = memory.mostBytes();
    if (!request.content().hasEntity()) {
      return new byte[0];
    }
    long size = request.headers().contentLength().orElse(most);
    if (size > most) {
      throw tooLarge(most);
    }
    if (!memory.tryTake(size)) {
      throw new Refused(Answer.full("Too many bytes are under way"));
    }
    taken = size;
    byte[] bytes = read((int) most + 1);
    if (bytes.length > most) {
      throw tooLarge(most);
    }
    return bytes;
  }

  private static Refused tooLarge(long most) {
    return new Refused(413, "too_large", "A payload has at most %d bytes".formatted(most));
  }

  /** At most so many; the memory grows with what has come, not by what was announced. */
  private byte[] read(int limit) throws IOException {
    InputStream opened = stream != null ? stream : request.content().inputStream();
    stream = opened;
    try {
      return opened.readNBytes(limit);
    } catch (DataReader.InsufficientDataAvailableException | ServerConnectionException e) {
      throw new CloseConnectionException("the client has gone", e);
    }
  }

  /** A socket that is closed with bytes unread is reset, and the client may lose the answer. */
  void discardRest() throws IOException {
    boolean isHeldBack = request.headers().contains(HeaderValues.EXPECT_100);
    if (!request.content().hasEntity() || (isHeldBack && !request.continueSent())) {
      return;
    }
    long count = 0;
    int length = AT_ONCE;
    while (length == AT_ONCE && count < MOST_DISCARDED) {
      length = read(AT_ONCE).length;
      count += length;
    }
  }

  @Override
  public void close() {
    memory.giveBack(taken);
  }
}
