package dev.belfry.http;

import io.helidon.common.buffers.BufferData;
import io.helidon.common.buffers.DataReader;
import io.helidon.http.DirectHandler;
import io.helidon.webserver.ConnectionContext;
import io.helidon.webserver.http1.Http1Config;
import io.helidon.webserver.http1.Http1ConnectionSelector;
import io.helidon.webserver.spi.ServerConnection;
import io.helidon.webserver.spi.ServerConnectionSelector;
import java.util.Set;
import java.util.function.Function;

/**
 * HTTP/1.1 as the server speaks it, over connections that somebody else reads, and with refusals in
 * somebody else's words. The server keeps what it reads until a line or a chunk is complete, and
 * has no limit for either: whoever reads can have one.
 */
public final class OwnSelector implements ServerConnectionSelector {
  private final ServerConnectionSelector http;
  private final Function<ConnectionContext, DataReader> reader;
  private final Function<ConnectionContext, DirectHandler> refusals;

  /**
   * Asks for each connection when its first bytes have come.
   *
   * @param maxHeaderBytes for the headers of a request
   * @param reader what reads it; the connection's own reader has the first bytes
   * @param refusals what answers when the server itself refuses, such as what is no request
   */
  public OwnSelector(
      int maxHeaderBytes,
      Function<ConnectionContext, DataReader> reader,
      Function<ConnectionContext, DirectHandler> refusals) {
    Http1Config config = Http1Config.builder().maxHeadersSize(maxHeaderBytes).build();
    this.http = Http1ConnectionSelector.builder().config(config).build();
    this.reader = reader;
    this.refusals = refusals;
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
    return http.connection(new OwnContext(context, reader.apply(context), refusals.apply(context)));
  }
}
