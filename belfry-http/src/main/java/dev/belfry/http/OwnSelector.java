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
 * The server's HTTP/1.1 with a custom reader and custom answers for rejected input. The server
 * buffers input until a line or a chunk is complete, without a limit for either; a custom reader
 * can impose one.
 */
public final class OwnSelector implements ServerConnectionSelector {
  private final ServerConnectionSelector http;
  private final Function<ConnectionContext, DataReader> reader;
  private final Function<ConnectionContext, DirectHandler> refusals;

  /**
   * Creates a selector. Both functions are called per connection, when its first bytes have
   * arrived.
   *
   * @param maxHeaderBytes the limit for the headers of a request
   * @param reader returns the reader; the connection's own reader already has the first bytes
   * @param refusals returns the handler for what the server itself rejects, such as malformed
   *     requests
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
