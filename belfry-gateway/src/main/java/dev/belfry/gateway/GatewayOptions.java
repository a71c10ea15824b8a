package dev.belfry.gateway;

import dev.belfry.workers.CallOptions;
import dev.belfry.workers.WorkerPool;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where a gateway listens, who may use it, and its limits. Each setter modifies this object and
 * returns it; changes do not affect a gateway that is already open.
 */
public final class GatewayOptions {
  private static final int DEFAULT_PORT = 7070;

  /** The shortest deadline of a call: requests specify theirs in milliseconds. */
  private static final Duration SHORTEST = Duration.ofMillis(1);

  InetSocketAddress address = new InetSocketAddress(InetAddress.getLoopbackAddress(), DEFAULT_PORT);
  @Nullable Predicate<String> bearer;
  long maxBytes = 8 << 20;
  Duration deadline = Duration.ofSeconds(30);
  Duration patience = Duration.ofSeconds(30);
  private long bytesInAll = Runtime.getRuntime().maxMemory() / 4;

  /**
   * Creates options for 127.0.0.1:7070, open to every program on this machine, with payloads of up
   * to 8 MiB and 30 seconds per call.
   */
  public GatewayOptions() {}

  /**
   * Sets the address; port 0 for any free port. Any but a loopback address requires {@link
   * #bearer}.
   */
  public GatewayOptions address(InetSocketAddress where) {
    address = where;
    return this;
  }

  /**
   * Accepts only requests with {@code Authorization: Bearer ...} whose token satisfies the
   * predicate. It is called concurrently and must compare in constant time.
   */
  public GatewayOptions bearer(Predicate<String> isValid) {
    bearer = isValid;
    return this;
  }

  /** Sets the longest payload, at most {@link WorkerPool#MAX_PAYLOAD_BYTES}; by default 8 MiB. */
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
   * Sets how long a call may take, from a millisecond to 20 days. A request may ask for less, but
   * not for more.
   */
  public GatewayOptions deadline(Duration limit) {
    if (limit.compareTo(SHORTEST) < 0 || limit.compareTo(CallOptions.MAX_DEADLINE) > 0) {
      throw new IllegalArgumentException("a call has from a millisecond to 20 days, not " + limit);
    }
    deadline = limit;
    return this;
  }

  /** Sets how long a client may take to send its request, and to read its answer. */
  GatewayOptions patience(Duration limit) {
    patience = limit;
    return this;
  }

  /** Sets how many bytes of all requests together may be in memory at a time. */
  GatewayOptions bytesInAll(long count) {
    bytesInAll = count;
    return this;
  }

  /** Always leaves room for the longest payload with its overhead. */
  long bytesInAll() {
    return Math.max(bytesInAll, 2 * maxBytes);
  }

  boolean isLoopback() {
    return address.getAddress() != null && address.getAddress().isLoopbackAddress();
  }

  /** Rejects unsafe options. */
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
