package dev.belfry.shm;

/** Gets the messages of a guest, one after the other. */
@FunctionalInterface
public interface MessageHandler {
  /**
   * Called for each message, by one thread at a time for each guest: the host's loop, or whoever
   * waits in {@link Peer#receiveUntil}. The message is filled anew afterwards. What it throws is
   * logged; a {@link ProtocolViolation}, such as one about a channel of this guest, ends the guest.
   */
  void onMessage(Peer peer, Message message);
}
