package dev.belfry.admin;

import io.helidon.http.HeaderNames;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.net.SocketTimeoutException;
import java.nio.channels.ClosedChannelException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The body of a request, read only as far as it is needed. */
final class RequestBody implements Surface.Body {
  /** How much of an unused body is discarded; a client that sends more may lose the answer. */
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

  /** Thrown when the body breaks off. */
  static final class Unfinished extends IOException {
    private static final long serialVersionUID = 1;

    private Unfinished(RuntimeException cause) {
      super(cause);
    }

    /** The HTTP status: 408 if the deadline passed, otherwise 400. */
    int status() {
      for (Throwable cause = getCause(); cause != null; cause = cause.getCause()) {
        if (cause instanceof ClosedChannelException || cause instanceof SocketTimeoutException) {
          return 408; // closed by our deadline
        }
      }
      return 400;
    }
  }

  @Override
  public byte[] read(int limit) throws IOException {
    try {
      return request.content().hasEntity() ? open().readNBytes(limit) : new byte[0];
    } catch (RequestLimit.Exceeded e) {
      return new byte[limit]; // a full buffer tells the caller that the body is too long
    } catch (RuntimeException e) { // whatever the server throws when a connection breaks off
      throw new Unfinished(e);
    }
  }

  /**
   * Discards what remains: closing a socket with unread bytes resets it, and the client may lose
   * the answer.
   */
  void discardRest() throws IOException {
    try {
      read(MAX_DISCARDED_BYTES);
    } catch (Unfinished e) {
      // Nothing remains.
    }
  }

  private InputStream open() {
    InputStream opened = stream != null ? stream : request.content().inputStream();
    stream = opened;
    return opened;
  }
}
