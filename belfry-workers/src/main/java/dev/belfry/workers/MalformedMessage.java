package dev.belfry.workers;

/** The other side has sent what docs/protocol.md does not allow. */
final class MalformedMessage extends RuntimeException {
  private static final long serialVersionUID = 1;

  MalformedMessage(String message) {
    super(message);
  }
}
