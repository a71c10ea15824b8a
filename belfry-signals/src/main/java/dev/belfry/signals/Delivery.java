package dev.belfry.signals;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/**
 * One delivery of a signal.
 *
 * @param signal the signal
 * @param origin where it came from: the name of a source, or whoever raised it
 * @param reason the reason given when it was raised; may be empty
 * @param correlationId the id that all records and events about it carry
 * @param done completes when everything it triggered is done
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
