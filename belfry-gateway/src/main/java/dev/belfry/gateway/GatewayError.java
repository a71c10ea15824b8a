package dev.belfry.gateway;

import java.util.Locale;

/** Why a call has no answer; docs/gateway.md says what each means and which status it goes with. */
public enum GatewayError {
  /** {@code Belfry-Delivery} is none. */
  BAD_DELIVERY,
  /** {@code Belfry-Deadline} is none. */
  BAD_DEADLINE,
  /** The request cannot be understood. */
  BAD_REQUEST,
  /** The token is missing or wrong. */
  UNAUTHORIZED,
  /** The request names another host. */
  FOREIGN_HOST,
  /** The request comes from a page of somebody else. */
  FOREIGN_ORIGIN,
  /** No worker has the method. */
  UNKNOWN_METHOD,
  /** Calls do not go to this path. */
  NOT_FOUND,
  /** A call is a POST. */
  METHOD_NOT_ALLOWED,
  /** The payload is too long. */
  TOO_LARGE,
  /** There is no room for another call now. */
  FULL,
  /** The method itself has failed. */
  METHOD_FAILED,
  /** The gateway itself has failed. */
  INTERNAL,
  /** The worker died, and the call was to be done at most once. */
  WORKER_DIED,
  /** Worker after worker died of the call. */
  DEAD_LETTER,
  /** The gateway or its pool is about to end. */
  CLOSING,
  /** No worker comes up. */
  CIRCUIT_OPEN,
  /** There was no answer in time. */
  DEADLINE_PASSED;

  private final String word = name().toLowerCase(Locale.ROOT);

  /** As the field {@code error} of an answer has it. */
  public String word() {
    return word;
  }
}
