package dev.belfry.admin;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The body of a request, of which no more is read than is wanted. */
final class RequestBody implements Surface.Body {
  /** Of a body that nobody wants; who sends more may lose the answer. */
  private static final int MAX_DISCARDED_BYTES = 64 * 1024;

  private final ServerRequest request;
  private @Nullable InputStream stream;

  RequestBody(ServerRequest request) {
    this.request = request;
  }

  @Override
  public Optional<String> contentType() {
    return request.headers().first(HeaderNames.CONTENT_TYPE);
  }

  @Override
  public byte[] read(int limit) throws IOException {
    try {
      return request.content().hasEntity() ? open().readNBytes(limit) : new byte[0];
    } catch (RequestLimit.Exceeded e) {
      return new byte[limit]; // who asks knows by that many that it is too long
    }
  }

  /** A socket that is closed with bytes unread is reset, and the client may lose the answer. */
  void discardRest() throws IOException {
    read(MAX_DISCARDED_BYTES);
  }

  private InputStream open() {
    InputStream opened = stream != null ? stream : request.content().inputStream();
    stream = opened;
    return opened;
  }
}
