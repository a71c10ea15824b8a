package dev.belfry.workers;

/** How a call ended in the worker; the numbers are those of docs/protocol.md. */
enum Status {
  /** With the bytes that follow. */
  DONE(0),
  /** The method failed; the text says how. */
  FAILED(1),
  /** The worker has no such method. */
  UNKNOWN_METHOD(2),
  /** It was cancelled before it had ended. */
  CANCELLED(3),
  /** The answer has more bytes than may be sent. */
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
