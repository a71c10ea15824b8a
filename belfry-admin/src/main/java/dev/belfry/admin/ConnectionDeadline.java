package dev.belfry.admin;

import dev.belfry.http.NotedOptions;
import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Closes each connection when its time is up, whatever it is doing: handshake, headers, body or
 * answer. A time-out on single reads would not do, because a client can send a byte just before
 * each. Time runs from when a connection was accepted.
 *
 * <p>Nothing that a client sends gives it more time. A stream's time is renewed with each event
 * that the client has taken, so that a client that takes none is cut off like any other.
 */
final class ConnectionDeadline {
  private final Map<SocketAddress, Limited> open = new ConcurrentHashMap<>();
  private final ScheduledExecutorService timers;
  private final Duration limit;

  ConnectionDeadline(ScheduledExecutorService timers, Duration limit) {
    this.timers = timers;
    this.limit = limit;
  }

  /** How connections are made: as the server does it, and from then on this has them. */
  SocketOptions socketOptions() {
    return new NotedOptions(SocketOptions.builder().readTimeout(limit).build(), this::accepted);
  }

  private void accepted(SocketChannel connection) {
    try {
      SocketAddress client = connection.getRemoteAddress();
      var limited = new Limited(client, connection);
      if (client instanceof InetSocketAddress) { // addresses of Unix sockets are all the same
        open.put(client, limited);
      }
      limited.start();
    } catch (ClosedChannelException e) {
      // It has gone already.
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Gives the TCP connection from this client its full time again, unless that is up. */
  void renew(SocketAddress client) {
    Limited limited = open.get(client);
    if (limited != null) {
      limited.renew();
    }
  }

  /** A connection and when it ends. */
  private final class Limited implements Runnable {
    private final SocketAddress client;
    private final SocketChannel connection;
    private @Nullable ScheduledFuture<?> end; // guarded by this

    Limited(SocketAddress client, SocketChannel connection) {
      this.client = client;
      this.connection = connection;
    }

    synchronized void start() {
      end = timers.schedule(this, limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    synchronized void renew() {
      if (end != null && end.cancel(false)) {
        start();
      }
    }

    @Override
    public void run() {
      open.remove(client, this); // the same port may have come back since, with another connection
      try {
        connection.close();
      } catch (IOException e) {
        // It is gone, which is all that is wanted.
      }
    }
  }
}
