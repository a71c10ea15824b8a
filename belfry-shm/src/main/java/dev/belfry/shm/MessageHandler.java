package dev.belfry.shm;

/** Receives the messages of a guest, one after the other. */
@FunctionalInterface
public interface MessageHandler {
  /**
   * Called for each message, by one thread at a time for each guest: the host's loop thread, or a
   * thread in {@link Peer#receiveUntil}. The message is refilled after this returns. Exceptions are
   * logged; a {@link ProtocolViolation}, such as one about a channel of this guest, ends the guest.
   */
  void onMessage(Peer peer, Message message);
}
