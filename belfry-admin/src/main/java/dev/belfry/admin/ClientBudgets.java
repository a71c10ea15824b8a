package dev.belfry.admin;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * A rate limit per client. Idle clients are forgotten once their budget would be full again. Beyond
 * {@link #MAX_CLIENTS} the least active are forgotten too, which bounds memory however many
 * addresses there are.
 */
final class ClientBudgets {
  static final int MAX_CLIENTS = 10_000;

  private static final Duration PERIOD = Duration.ofMinutes(1);

  private final int perMinute;
  private final TimeMeter time;
  private final Cache<String, Bucket> buckets;

  ClientBudgets(int perMinute, LongSupplier nanoClock) {
    this.perMinute = perMinute;
    this.time = new NanoTime(nanoClock);
    this.buckets =
        Caffeine.newBuilder()
            .maximumSize(MAX_CLIENTS)
            .expireAfterAccess(PERIOD.multipliedBy(2))
            .ticker(nanoClock::getAsLong)
            .executor(Runnable::run) // evict synchronously, so that a flood cannot outrun it
            .build();
  }

  /**
   * Spends one unit of a client's budget.
   *
   * @return zero if it had one, otherwise the number of seconds until it has, rounded up
   */
  // r[impl signals.http.rate-default]
  // r[impl signals.http.retry-after]
  long trySpend(String client) {
    ConsumptionProbe probe = buckets.get(client, _ -> newBucket()).tryConsumeAndReturnRemaining(1);
    return probe.isConsumed() ? 0 : wholeSeconds(probe.getNanosToWaitForRefill());
  }

  private static long wholeSeconds(long nanos) {
    long second = TimeUnit.SECONDS.toNanos(1);
    return (nanos + second - 1) / second;
  }

  private Bucket newBucket() {
    return Bucket.builder()
        .withCustomTimePrecision(time)
        .addLimit(limit -> limit.capacity(perMinute).refillGreedy(perMinute, PERIOD))
        .build();
  }

  /** The number of clients remembered. */
  long size() {
    buckets.cleanUp();
    return buckets.estimatedSize();
  }

  private record NanoTime(LongSupplier clock) implements TimeMeter {
    @Override
    public long currentTimeNanos() {
      return clock.getAsLong();
    }

    @Override
    public boolean isWallClockBased() {
      return false;
    }
  }
}
