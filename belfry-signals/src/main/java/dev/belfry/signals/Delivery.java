package dev.belfry.signals;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * One signal that came.
 *
 * @param signal the signal
 * @param origin who brought it: the name of a source, or who raised it
 * @param reason why, in the words of whoever raised it; may be empty
 * @param correlationId what the records and events about it have in common
 * @param done completes when everything it set off is done
 */
record Delivery(
    Signal signal,
    String origin,
    String reason,
    String correlationId,
    CompletableFuture<Void> done) {

  Delivery(Signal signal, String origin, String reason, String correlationId) {
    this(signal, origin, reason, correlationId, new CompletableFuture<>());
  }

  Delivery(Signal signal, String origin) {
    this(signal, origin, "", newCorrelationId());
  }

  static String newCorrelationId() {
    return UUID.randomUUID().toString();
  }
}
