package dev.belfry.admin;

import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;

/**
 * Limits the bytes read from a connection. The server buffers a whole chunk and the lines around it
 * before it hands out a byte, without any limit, so bytes are counted here, before they are
 * buffered.
 */
final class RequestLimit {
  /** Enough for head, body, what is discarded, and what arrives together with its end. */
  private static final int MAX_BYTES = 128 * 1024;

  private final DataReader source;
  private int left = MAX_BYTES;

  private RequestLimit(DataReader source) {
    this.source = source;
  }

  /** A reader for a connection that throws {@link Exceeded} beyond the limit. */
  static DataReader reader(ConnectionContext connection) {
    var limit = new RequestLimit(connection.dataReader());
    return DataReader.create(limit::next);
  }

  private byte[] next() {
    byte[] bytes = source.readBuffer().readBytes();
    left -= bytes.length;
    if (left < 0) {
      throw new Exceeded();
    }
    return bytes;
  }

  /** Thrown when a client sends more than any request may have. */
  static final class Exceeded extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    Exceeded() {
      super("more than a request can have");
    }
  }
}
