package dev.belfry.shm;

import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;

/**
 * The messages of one guest, as the host's loop hands them out: within a budget for each turn, and
 * at the end all that is left. For the loop thread, unless said otherwise.
 */
final class PeerMessages {
  private static final System.Logger LOG = System.getLogger(PeerMessages.class.getName());

  private final ShmHost host;
  private final Peer peer;
  private final Message scratch = new Message();
  private final Inbox.Handler handler = this::deliver;
  private boolean queued;

  /** Whether a ring has come since the last look that was not caused by one. */
  private boolean rung;

  /** Whether messages come without the ring that should announce them: some guests never ring. */
  private boolean silent;

  PeerMessages(ShmHost host, Peer peer) {
    this.host = host;
    this.peer = peer;
  }

  /** For whoever has the receivers' turn. */
  Message scratch() {
    return scratch;
  }

  /** Gives a message to the handler; for whoever has the receivers' turn. */
  Inbox.Handler handler() {
    return handler;
  }

  /** Whether they have to be looked for, because nobody announces them. */
  boolean areSilent() {
    return silent;
  }

  /** Whether it is the loop that hands them out. */
  boolean areHandedOut() {
    return peer.options().handler() != null;
  }

  /** The guest has rung; says whether there was anything. */
  boolean announced() {
    rung = true;
    silent = false;
    if (!host.segment().layout().isPadded()) {
      peer.exchange().passRingOn();
    }
    return handOut(true);
  }

  /**
   * Looks without having been called; says whether there was anything. In the padded placement that
   * says nothing against the guest: there it rings only if asked to, and while a thread receives it
   * is not asked.
   */
  boolean look() {
    boolean unannounced = !rung && !host.segment().layout().isPadded();
    rung = false;
    boolean some = handOut(false);
    silent |= some && unannounced;
    return some;
  }

  /** Hands out what there is, within the budget, because somebody wants that. */
  boolean pump() {
    return handOut(true);
  }

  /**
   * Hands out what there is, within the budget; says whether there was anything.
   *
   * @param wanted whether to come again if another thread is receiving just now
   */
  // r[impl shm.doorbell.ring-integration]
  private boolean handOut(boolean wanted) {
    if (!areHandedOut()) {
      return false;
    }
    Receiving receiving = peer.exchange().receiving();
    int count =
        wanted
            ? receiving.receiveWanted(handler, scratch, host.budget())
            : receiving.receiveAndListen(handler, scratch, host.budget());
    if (count == host.budget() && !queued) {
      queued = true;
      host.post(
          () -> {
            queued = false;
            peer.life().pump();
          });
    }
    return count > 0;
  }

  private void deliver(Message message) {
    MessageHandler told = peer.options().handler();
    if (told == null) {
      return;
    }
    try {
      told.onMessage(peer, message);
    } catch (ProtocolViolation e) {
      peer.violated(e);
    } catch (RuntimeException | Error e) {
      LOG.log(Level.ERROR, "the handler of " + peer + " failed at " + message, e);
    }
  }

  /**
   * Hands out or keeps all that is left, with both turns taken: as much as a ring can hold, for a
   * guest whose process goes on could write without end.
   */
  // r[impl shm.trust.counters]
  void deliverRest() {
    Inbox inbox = peer.exchange().link().inbox();
    int most = inbox.ring().capacity();
    try {
      Message message = areHandedOut() ? scratch : new Message();
      for (int i = 0; i < most && inbox.receive(message); i++) {
        if (areHandedOut()) {
          deliver(message);
        } else {
          peer.keep(message);
          message = new Message();
        }
      }
    } catch (ShmException | InternalError e) {
      LOG.log(Level.DEBUG, "the rest of " + peer + " makes no sense", e);
    }
  }

  /** Tells the guest why it is ended, as far as there is room. */
  void sayGoodbye(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    Sending sending = peer.exchange().sending();
    try {
      SendResult result =
          sending.send(MessageKind.GOODBYE, 0, 0, Outbox.NO_PREFIX, text, 0, text.length);
      if (result != SendResult.SENT) {
        int most = Math.min(text.length, MessageDescriptor.INLINE_BYTES);
        sending.send(MessageKind.GOODBYE, 0, 0, Outbox.NO_PREFIX, text, 0, most);
      }
    } catch (ShmException | InternalError e) {
      LOG.log(Level.DEBUG, "the reason cannot be told", e); // its counters are forged too
    }
  }
}
