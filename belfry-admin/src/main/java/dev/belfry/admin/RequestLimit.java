package dev.belfry.admin;

import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;

/**
 * Reads no more of a connection than a request can have. The server reads a chunk, and the lines
 * around it, as a whole before it hands out a byte, and has no limit for either; so it is here that
 * bytes are counted, before anybody keeps them.
 */
final class RequestLimit {
  /** A head, a body, what of it is discarded, and what arrives together with its end. */
  private static final int MAX_BYTES = 128 * 1024;

  private final DataReader source;
  private int left = MAX_BYTES;

  private RequestLimit(DataReader source) {
    this.source = source;
  }

  /** What comes from a client, as long as it is not too much. */
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

  /** More has come than a request can have. */
  static final class Exceeded extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    Exceeded() {
      super("more than a request can have");
    }
  }
}
