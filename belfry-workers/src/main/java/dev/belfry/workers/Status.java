package dev.belfry.workers;

/** How a call ended in the worker; the numbers are those of docs/protocol.md. */
enum Status {
  /** It succeeded; the answer follows. */
  DONE(0),
  /** The method failed; the text says how. */
  FAILED(1),
  /** The worker has no such method. */
  UNKNOWN_METHOD(2),
  /** It was cancelled before it had ended. */
  CANCELLED(3),
  /** The answer is longer than allowed. */
  TOO_LONG(4);

  private static final Status[] ALL = values();

  private final int number;

  Status(int number) {
    this.number = number;
  }

  int number() {
    return number;
  }

  static Status of(int number) {
    if (number >= ALL.length) {
      throw new MalformedMessage("an answer with status " + number);
    }
    return ALL[number];
  }
}
