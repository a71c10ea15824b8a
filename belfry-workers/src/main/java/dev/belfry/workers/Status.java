package dev.belfry.workers;

/** How a call ended in the worker; the numbers are those of docs/protocol.md. */
enum Status {
  /** With the bytes that follow. */
  OK,
  /** The method failed; the text says how. */
  FAILED,
  /** The worker has no such method. */
  UNKNOWN_METHOD,
  /** It was cancelled before it had ended. */
  CANCELLED,
  /** The answer has more bytes than may be sent. */
  TOO_LARGE;

  private static final Status[] ALL = values();

  static Status of(int number) {
    if (number >= ALL.length) {
      throw new MalformedMessage("an answer with status " + number);
    }
    return ALL[number];
  }
}
