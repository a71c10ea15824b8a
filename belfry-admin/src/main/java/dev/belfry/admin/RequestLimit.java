package dev.belfry.admin;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;

/**
 * Reads no more of a connection than a request can have. The server reads a chunk, and the lines
 * around it, as a whole before it hands out a byte, and has no limit for either; so it is here that
 * bytes are counted, before anybody keeps them.
 *
 * @param http what speaks to the client
 * @param log where what is no request is logged
 */
record RequestLimit(ServerConnectionSelector http, RequestLog log)
    implements ServerConnectionSelector {
  /** A head, a body, what of it is discarded, and what arrives together with its end. */
  private static final int MAX_BYTES = 128 * 1024;

  /** More has come than a request can have. */
  static final class Exceeded extends CloseConnectionException {
    private static final long serialVersionUID = 1;

    Exceeded() {
      super("more than a request can have");
    }
  }

  @Override
  public int bytesToIdentifyConnection() {
    return http.bytesToIdentifyConnection();
  }

  @Override
  public Support supports(BufferData data) {
    return http.supports(data);
  }

  @Override
  public Set<String> supportedApplicationProtocols() {
    return http.supportedApplicationProtocols();
  }

  @Override
  public ServerConnection connection(ConnectionContext context) {
    var bytes = new Counted(context.dataReader());
    var refusals = new Refusals(context.listenerContext(), context.remotePeer(), log);
    return http.connection(new LimitedContext(context, DataReader.create(bytes::next), refusals));
  }

  /** What comes from a client, as long as it is not too much. */
  private static final class Counted {
    private final DataReader source;
    private int left = MAX_BYTES;

    Counted(DataReader source) {
      this.source = source;
    }

    byte[] next() {
      byte[] bytes = source.readBuffer().readBytes();
      left -= bytes.length;
      if (left < 0) {
        throw new Exceeded();
      }
      return bytes;
    }
  }
}
