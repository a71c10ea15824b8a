package dev.belfry.admin;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;

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
    return http.connection(new Limited(context, log));
  }

  /** A connection as the server has it, except for what is read and what is refused. */
  private static final class Limited implements ConnectionContext {
    private final ConnectionContext context;
    private final DataReader reader = DataReader.create(this::next);
    private final Refusals refusals;
    private int left = MAX_BYTES;

    Limited(ConnectionContext context, RequestLog log) {
      this.context = context;
      this.refusals = new Refusals(context.listenerContext(), context.remotePeer(), log);
    }

    private byte[] next() {
      byte[] bytes = context.dataReader().readBuffer().readBytes();
      left -= bytes.length;
      if (left < 0) {
        throw new Exceeded();
      }
      return bytes;
    }

    @Override
    public DataReader dataReader() {
      return reader;
    }

    @Override
    public ListenerContext listenerContext() {
      return refusals;
    }

    @Override
    public ExecutorService executor() {
      return context.executor();
    }

    @Override
    public DataWriter dataWriter() {
      return context.dataWriter();
    }

    @Override
    public Router router() {
      return context.router();
    }

    @Override
    public Optional<ProxyProtocolData> proxyProtocolData() {
      return context.proxyProtocolData();
    }

    @Override
    public HelidonSocket serverSocket() {
      return context.serverSocket();
    }

    @Override
    public PeerInfo remotePeer() {
      return context.remotePeer();
    }

    @Override
    public PeerInfo localPeer() {
      return context.localPeer();
    }

    @Override
    public boolean isSecure() {
      return context.isSecure();
    }

    @Override
    public String socketId() {
      return context.socketId();
    }

    @Override
    public String childSocketId() {
      return context.childSocketId();
    }
  }
}
