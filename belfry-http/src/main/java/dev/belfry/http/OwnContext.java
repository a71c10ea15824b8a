package dev.belfry.http;

import io.helidon.common.buffers.DataReader;
import io.helidon.common.buffers.DataWriter;
import io.helidon.common.socket.HelidonSocket;
import io.helidon.common.socket.PeerInfo;
import io.helidon.http.DirectHandler;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.ProxyProtocolData;
import io.helidon.webserver.Router;
import java.util.Optional;
import java.util.concurrent.ExecutorService;

/**
 * A connection as the server has it, except for what is read and for how the server refuses.
 *
 * @param context as the server has it
 * @param dataReader all reading is done here
 * @param listenerContext its listener, with what answers refusals
 */
record OwnContext(ConnectionContext context, DataReader dataReader, ListenerContext listenerContext)
    implements ConnectionContext {
  OwnContext(ConnectionContext context, DataReader reader, DirectHandler refusals) {
    this(context, reader, new OwnListener(context.listenerContext(), refusals));
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
