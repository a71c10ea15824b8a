package dev.belfry.gateway;

import dev.belfry.workers.CallOptions;
import dev.belfry.workers.WorkerPool;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where a gateway listens, who may use it, and how much. Each method changes this object and
 * returns it; a gateway goes by what it was opened with.
 */
public final class GatewayOptions {
  private static final int DEFAULT_PORT = 7070;

  /** The shortest deadline of a call; a request gives it in milliseconds. */
  private static final Duration SHORTEST = Duration.ofMillis(1);

  InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), DEFAULT_PORT);
  @Nullable Predicate<String> bearer;
  long maxBytes = 8 << 20;
  Duration deadline = Duration.ofSeconds(30);
  Duration patience = Duration.ofSeconds(30);
  private long bytesInAll = Runtime.getRuntime().maxMemory() / 4;

  /** At 127.0.0.1:7070, for everybody on this machine; payloads of 8 MiB, half a minute a call. */
  public GatewayOptions() {}

  /** Listens there; port 0 for any that is free. Any other than loopback needs {@link #bearer}. */
  public GatewayOptions address(InetSocketAddress where) {
    address = where;
    return this;
  }

  /**
   * Lets in only requests with {@code Authorization: Bearer ...} and a token for which this is
   * true. It is called on many threads, and must compare in constant time.
   */
  public GatewayOptions bearer(Predicate<String> isValid) {
    bearer = isValid;
    return this;
  }

  /** The longest payload, at most {@link WorkerPool#MAX_PAYLOAD_BYTES}; by default 8 MiB. */
  public GatewayOptions maxBytes(long count) {
    if (count < 0 || count > WorkerPool.MAX_PAYLOAD_BYTES) {
      throw new IllegalArgumentException(
          "a payload has at most %d bytes, which cannot be %d"
              .formatted(WorkerPool.MAX_PAYLOAD_BYTES, count));
    }
    maxBytes = count;
    return this;
  }

  /**
   * How long a call may take where a request does not ask for less; it cannot ask for more. From a
   * millisecond to 20 days.
   */
  public GatewayOptions deadline(Duration limit) {
    if (limit.compareTo(SHORTEST) < 0 || limit.compareTo(CallOptions.MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException("a call has from a millisecond to 20 days, not " + limit);
    }
    deadline = limit;
    return this;
  }

  /** How long a client may take to send its request, and to take its answer. */
  GatewayOptions patience(Duration limit) {
    patience = limit;
    return this;
  }

  /** How many bytes may be in memory at the same time, of all requests. */
  GatewayOptions bytesInAll(long count) {
    bytesInAll = count;
    return this;
  }

  /** There is always room for the longest payload, whatever comes with it. */
  long bytesInAll() {
    return Math.max(bytesInAll, 2 * maxBytes);
  }

  boolean isLoopback() {
    return address.getAddress() != null && address.getAddress().isLoopbackAddress();
  }

  /** Refuses what would not be safe. */
  void check() {
    if (address.isUnresolved()) {
      throw new IllegalArgumentException("there is no address for " + address.getHostString());
    }
    if (bearer == null && !isLoopback()) {
      throw new IllegalArgumentException(
          "anybody on the network could call the workers: "
              + address.getAddress().getHostAddress()
              + " is not a loopback address and needs bearer(...)");
    }
  }
}
