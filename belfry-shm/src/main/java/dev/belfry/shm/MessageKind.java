package dev.belfry.shm;

import org.jspecify.annotations.Nullable;

/** The kinds of messages. */
// r[impl shm.desc.msg-type]
public enum MessageKind {
  REQUEST(1),
  RESPONSE(2),
  CANCEL(3),
  DATA(4),
  CLOSE(5),
  RESET(6),
  GOODBYE(7);

  private static final MessageKind[] ALL = values();

  private final int number;

  MessageKind(int number) {
    this.number = number;
  }

  /** The number that stands in a descriptor. */
  int number() {
    return number;
  }

  /** The kind with a number, or null if there is none. */
  static @Nullable MessageKind of(int number) {
    return number >= 1 && number <= ALL.length ? ALL[number - 1] : null;
  }

  /** Whether the id of a message of this kind names a channel. */
  public boolean usesChannelId() {
    return switch (this) {
      case DATA, CLOSE, RESET -> true;
      case REQUEST, RESPONSE, CANCEL, GOODBYE -> false;
    };
  }
}
