package dev.belfry.admin;

import io.helidon.common.socket.SocketOptions;
import java.io.IOException;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Closes each connection when its time is up, whatever it is at: handshake, headers, body or
 * answer. A time-out of single reads would not do, because a client can send a byte just before
 * each. The server configures a connection right after it has accepted it, so time runs from there.
 */
final class ConnectionDeadline implements SocketOptions {
  private final SocketOptions options = SocketOptions.create();
  private final ScheduledExecutorService timers;
  private final Duration limit;

  ConnectionDeadline(ScheduledExecutorService timers, Duration limit) {
    this.timers = timers;
    this.limit = limit;
  }

  @Override
  public void configureSocket(SocketChannel connection) {
    options.configureSocket(connection);
    var _ = timers.schedule(() -> close(connection), limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static void close(SocketChannel connection) {
    try {
      connection.close();
    } catch (IOException e) {
      // It is gone, which is all that is wanted.
    }
  }

  @Override
  public Map<SocketOption<?>, Object> socketOptions() {
    return options.socketOptions();
  }

  @Override
  public Duration connectTimeout() {
    return options.connectTimeout();
  }

  @Override
  public Duration readTimeout() {
    return limit;
  }

  @Override
  public Optional<Integer> socketReceiveBufferSize() {
    return options.socketReceiveBufferSize();
  }

  @Override
  public Optional<Integer> socketSendBufferSize() {
    return options.socketSendBufferSize();
  }

  @Override
  public boolean socketReuseAddress() {
    return options.socketReuseAddress();
  }

  @Override
  public boolean socketKeepAlive() {
    return options.socketKeepAlive();
  }

  @Override
  public boolean tcpNoDelay() {
    return options.tcpNoDelay();
  }
}
