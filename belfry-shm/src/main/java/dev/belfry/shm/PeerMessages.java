package dev.belfry.shm;

import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;

/**
 * The messages of one guest, handed out by the host's loop within a budget for each turn, and
 * completely at the guest's end. Confined to the loop thread unless stated otherwise.
 */
final class PeerMessages {
  private static final System.Logger LOG = System.getLogger(PeerMessages.class.getName());

  private final ShmHost host;
  private final Peer peer;
  private final Message scratch = new Message();
  private final Inbox.Handler handler = this::deliver;
  private boolean queued;

  /** Whether the bell has rung since the last unprompted look. */
  private boolean rung;

  /** Whether messages arrive without a ring to announce them: some guests never ring. */
  private boolean silent;

  PeerMessages(ShmHost host, Peer peer) {
    this.host = host;
    this.peer = peer;
  }

  /** For the thread that has the receivers' turn. */
  Message scratch() {
    return scratch;
  }

  /** Passes a message to the guest's handler; for the thread that has the receivers' turn. */
  Inbox.Handler handler() {
    return handler;
  }

  /** Whether the guest has to be polled, because it does not ring. */
  boolean areSilent() {
    return silent;
  }

  /** Whether the loop hands the messages out. */
  boolean areHandedOut() {
    return peer.options().handler() != null;
  }

  /** Called when the guest has rung; returns whether there were messages. */
  boolean announced() {
    rung = true;
    silent = false;
    if (!host.segment().layout().isPadded()) {
      peer.exchange().passRingOn();
    }
    return handOut(true);
  }

  /**
   * Looks without a ring; returns whether there were messages. In the padded placement finding some
   * does not make the guest silent: there it rings only when asked to, and while a thread receives
   * it is not asked.
   */
  boolean look() {
    boolean unannounced = !rung && !host.segment().layout().isPadded();
    rung = false;
    boolean some = handOut(false);
    silent |= some && unannounced;
    return some;
  }

  /** Hands out messages within the budget, on request. */
  boolean pump() {
    return handOut(true);
  }

  /**
   * Hands out messages within the budget; returns whether there were any.
   *
   * @param wanted whether to come back if another thread is receiving right now
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
   * Hands out or keeps all that is left, while holding both turns. Stops after a ring's worth of
   * messages: a guest whose process lives on could keep writing for ever.
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

  /** Sends the guest the reason for its end, as far as there is room. */
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
