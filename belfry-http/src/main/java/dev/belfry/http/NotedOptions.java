package dev.belfry.http;

import io.helidon.common.socket.SocketOptions;
import java.net.SocketOption;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How connections are made, as the server has it, except that somebody is told of each. The server
 * configures a connection right after it has accepted it, and says so nowhere else.
 *
 * @param options as the server has it
 * @param accepted told of each connection
 */
public record NotedOptions(SocketOptions options, Consumer<SocketChannel> accepted)
    implements SocketOptions {
  @Override
  public void configureSocket(SocketChannel connection) {
    options.configureSocket(connection);
    accepted.accept(connection);
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
    return options.readTimeout();
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
