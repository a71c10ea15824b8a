package dev.belfry.gateway;

import java.util.Locale;

/** Why a call failed; docs/gateway.md explains each error and its status. */
public enum GatewayError {
  /** {@code Belfry-Delivery} is not a valid delivery. */
  BAD_DELIVERY,
  /** {@code Belfry-Deadline} is not a valid deadline. */
  BAD_DEADLINE,
  /** The request cannot be understood. */
  BAD_REQUEST,
  /** The token is missing or wrong. */
  UNAUTHORIZED,
  /** The request is addressed to another host. */
  FOREIGN_HOST,
  /** The request comes from a page of another origin. */
  FOREIGN_ORIGIN,
  /** No worker has the method. */
  UNKNOWN_METHOD,
  /** The path is not that of a call. */
  NOT_FOUND,
  /** The method is not POST. */
  METHOD_NOT_ALLOWED,
  /** The payload is too long. */
  TOO_LARGE,
  /** There is currently no room for another call. */
  FULL,
  /** The worker's method failed. */
  METHOD_FAILED,
  /** The gateway itself failed. */
  INTERNAL,
  /** The worker died, and the call must not be repeated because it is at-most-once. */
  WORKER_DIED,
  /** The call was given up after one worker after another died of it. */
  DEAD_LETTER,
  /** The gateway or its pool is closing. */
  CLOSING,
  /** Workers keep dying early, so none is started until the pool is reset. */
  CIRCUIT_OPEN,
  /** The deadline passed without an answer. */
  DEADLINE_PASSED;

  private final String word = name().toLowerCase(Locale.ROOT);

  /** Its spelling in the field {@code error} of an answer. */
  public String word() {
    return word;
  }
}
