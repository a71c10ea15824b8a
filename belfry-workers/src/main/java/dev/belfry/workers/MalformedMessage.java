package dev.belfry.workers;

/** The peer has sent a message that docs/protocol.md does not allow. */
final class MalformedMessage extends RuntimeException {
  private static final long serialVersionUID = 1;

  MalformedMessage(String message) {
    super(message);
  }
}
