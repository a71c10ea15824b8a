package dev.belfry.http;

import io.helidon.common.context.Context;
import io.helidon.http.DirectHandler;
import io.helidon.http.encoding.ContentEncodingContext;
import io.helidon.http.media.MediaContext;
import io.helidon.webserver.ListenerConfig;
import io.helidon.webserver.ListenerContext;
import io.helidon.webserver.http.DirectHandlers;
import java.util.concurrent.ExecutorService;

/** The server's listener context with other answers for rejected input. */
record OwnListener(ListenerContext listener, DirectHandler refusals) implements ListenerContext {
  @Override
  public DirectHandlers directHandlers() {
    DirectHandlers.Builder handlers = DirectHandlers.builder();
    for (DirectHandler.EventType type : DirectHandler.EventType.values()) {
      handlers.addHandler(type, refusals);
    }
    return handlers.build();
  }

  @Override
  public Context context() {
    return listener.context();
  }

  @Override
  public MediaContext mediaContext() {
    return listener.mediaContext();
  }

  @Override
  public ContentEncodingContext contentEncodingContext() {
    return listener.contentEncodingContext();
  }

  @Override
  public ListenerConfig config() {
    return listener.config();
  }

  @Override
  public ExecutorService executor() {
    return listener.executor();
  }
}
