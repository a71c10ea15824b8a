package dev.belfry.shm;

import dev.belfry.linux.PidFd;
import dev.belfry.loop.TimerOperation;
import java.lang.System.Logger.Level;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The life of a guest as its host sees it, through the {@link PeerPhase}s. Confined to the loop
 * thread unless stated otherwise.
 */
final class PeerLife {
  private static final System.Logger LOG = System.getLogger(PeerLife.class.getName());
  private static final long DOORSTEP_NANOS = 1_000_000_000;

  /**
   * How long a guest that has left, or whose mutex has reported its death, usually takes to end.
   */
  private static final long END_NANOS = 1_000_000_000;

  private final ShmHost host;
  private final Peer peer;
  private final PeerHoldings holdings;
  private final PeerEntry entry;
  private final PeerProcess process;
  private final PeerMessages messages;
  private final Heartbeat heartbeat;
  private final TimerOperation limit;
  private final long seenNanos = System.nanoTime();

  private volatile PeerPhase phase = PeerPhase.RESERVED;
  private @Nullable Witness firstWitness;
  private long dyingNanos;

  PeerLife(ShmHost host, Peer peer) {
    this.host = host;
    this.peer = peer;
    this.holdings = new PeerHoldings(host, peer, this::processEnded);
    this.entry = holdings.entry();
    this.process = holdings.process();
    this.messages = new PeerMessages(host, peer);
    this.heartbeat = new Heartbeat(host.segment(), peer.id());
    this.limit = host.loop().scheduler().after(peer.options().attachLimit());
  }

  /** Any thread. */
  OptionalInt pid() {
    return process.pid();
  }

  /** Any thread. */
  boolean isAttached() {
    return phase == PeerPhase.ATTACHED;
  }

  /** Any thread. */
  boolean isGone() {
    return phase == PeerPhase.GONE;
  }

  /** Any thread. */
  Peer peer() {
    return peer;
  }

  /** Whether the process is our child and has not been reaped. */
  boolean hasChild() {
    return phase != PeerPhase.GONE && process.isChild();
  }

  /** Any thread. */
  PeerMessages messages() {
    return messages;
  }

  // Beginning.

  /** Any thread, before the ticket is handed out. */
  void hear(AsyncDoorbell heard) {
    holdings.hear(heard);
  }

  void spawned(PidFd child) {
    process.started(child);
    limit.start(
        timer -> {
          if (timer.hasValue() && phase == PeerPhase.RESERVED) {
            testify(Witness.TIME_LIMIT);
          }
        });
  }

  private void attached() {
    phase = PeerPhase.ATTACHED;
    heartbeat.begin(System.nanoTime());
    limit.cancel();
    process.look(); // while it is certain to be alive
    holdings.watchMutex(() -> testify(Witness.MUTEX));
    LOG.log(Level.DEBUG, "{0} has attached", peer);
    peer.decide();
    tell(() -> peer.options().listener().onAttached(peer));
    pump();
  }

  // Observing.

  /** Called when the bell rings or hangs up. */
  void heard(Doorbell.Event event) {
    if (event == Doorbell.Event.DEATH) {
      look();
      pump();
      if (!giveUpIfUnused()) {
        testify(Witness.DOORBELL);
      }
      return;
    }
    look();
    if (isReadable()) {
      guarded(messages::announced);
    }
  }

  /** Looks at the guest's state and for messages; returns whether there were any. */
  // r[impl shm.host.poll-peers]
  boolean lookAround() {
    look();
    return isReadable() && guarded(messages::look);
  }

  /** Hands out the guest's messages. */
  void pump() {
    if (isReadable()) {
      guarded(messages::pump);
    }
  }

  private boolean isReadable() {
    return phase == PeerPhase.ATTACHED || phase == PeerPhase.DYING;
  }

  private boolean guarded(BooleanSupplier look) {
    try {
      return look.getAsBoolean();
    } catch (ShmException e) {
      violated(e);
    } catch (InternalError fault) {
      violated(host.segment().lost(fault));
    }
    return false;
  }

  /** Whether the guest has to be polled, because it does not ring for its messages. */
  boolean isPolled() {
    boolean unannounced = !holdings.hasBell() || messages.areSilent();
    return phase == PeerPhase.ATTACHED && messages.areHandedOut() && unannounced;
  }

  /** Whether the guest is about to end and nothing will report the end of its process. */
  boolean isDyingStranger() {
    boolean ends = firstWitness == Witness.GOODBYE || firstWitness == Witness.MUTEX;
    boolean soon = ends && System.nanoTime() - dyingNanos < END_NANOS;
    return phase == PeerPhase.DYING && soon && !hasChild();
  }

  /** Called when the host says goodbye: a guest that has not attached yet is not waited for. */
  void hostLeaves() {
    look(); // it may have attached just now
    if (phase == PeerPhase.RESERVED) {
      if (!giveUpIfUnused()) {
        testify(Witness.HOST);
      }
    } else if (phase == PeerPhase.ATTACHED) {
      holdings.announce();
    }
  }

  /**
   * Looks at the guest's state. A truncated segment counts as a violation; the guest's end goes on.
   */
  private void look() {
    guarded(
        () -> {
          lookAtState();
          return true;
        });
  }

  private void lookAtState() {
    switch (phase) {
      case RESERVED -> {
        if (!entry.isIn(PeerState.RESERVED) && !isOnTheDoorstep()) {
          attached();
          lookAttached();
        }
      }
      case ATTACHED -> lookAttached();
      case DYING, QUARANTINED -> lookForStranger();
      case GONE -> {}
    }
  }

  /**
   * Whether a guest that walks in has taken its entry but not yet locked the mutex, which
   * identifies its process and reports its death. It is about to.
   */
  private boolean isOnTheDoorstep() {
    return !holdings.hasBell()
        && entry.mutex() != null
        && !process.showsLife()
        && entry.isIn(PeerState.ATTACHED)
        && System.nanoTime() - seenNanos < DOORSTEP_NANOS;
  }

  private void lookAttached() {
    if (phase != PeerPhase.ATTACHED) {
      return;
    }
    if (entry.isIn(PeerState.ATTACHED)) { // first, as the state may change to GOODBYE at any moment
      lookForStranger();
      if (isAttached() && heartbeat.hasGotStuck(System.nanoTime())) { // else not its heartbeat
        tell(() -> peer.options().listener().onStuck(peer));
      }
    } else if (entry.isIn(PeerState.GOODBYE)) {
      testify(Witness.GOODBYE);
    } else {
      LOG.log(Level.WARNING, "{0} has changed its own entry", peer);
      testify(Witness.VIOLATION);
    }
  }

  private void lookForStranger() {
    boolean left = phase == PeerPhase.DYING && firstWitness == Witness.GOODBYE && !hasChild();
    if (!left) {
      process.look();
    } else if (!process.showsLife()) {
      finish(); // trusting the guest, which says goodbye only when done with its entry
    }
  }

  // Ending.

  void violated(ShmException violation) {
    if (phase == PeerPhase.ATTACHED) {
      LOG.log(Level.WARNING, "{0} is thrown out: {1}", peer, violation.getMessage());
      messages.sayGoodbye(String.valueOf(violation.getMessage()));
      testify(Witness.VIOLATION);
    }
  }

  void disconnect(String reason) {
    if (holdings.hasBell() && giveUpIfUnused()) {
      return; // its ticket was never used
    }
    if (phase == PeerPhase.DYING) {
      kill(); // it has left, but its process must not go on
      return;
    }
    if (phase == PeerPhase.ATTACHED) {
      messages.sayGoodbye(reason);
    }
    testify(Witness.HOST);
  }

  /** Called when the caller vouches that the process has ended. */
  void declareGone() {
    if (process.isKnown()) {
      disconnect("the host was told that this guest's process has ended");
    } else if (phase != PeerPhase.RESERVED) {
      processEnded();
    }
  }

  /** Records a witness of the guest's end. Only the first one counts. */
  // r[impl shm.death.dying]
  void testify(Witness witness) {
    if (phase != PeerPhase.RESERVED && phase != PeerPhase.ATTACHED) {
      return;
    }
    if (phase == PeerPhase.RESERVED && (witness == Witness.HOST || witness == Witness.TIME_LIMIT)) {
      kill(); // before it attaches, finds its entry given up and reports that
    }
    phase = PeerPhase.DYING;
    firstWitness = witness;
    dyingNanos = System.nanoTime();
    entry.giveUp();
    limit.cancel();
    tell(() -> peer.options().listener().onDying(peer, witness));
    peer.exchange().link().close(); // wakes the threads that wait for it
    peer.decide();
    LOG.log(Level.DEBUG, "{0} is dying: {1}", peer, witness);
    if (host.segment().isIntact()) {
      pump();
    }
    awaitEnd(witness);
  }

  // r[impl shm.crash.host-owned]
  private void awaitEnd(Witness witness) {
    if (witness == Witness.PROCESS) {
      return; // the caller continues
    }
    if (!process.isChild()) {
      if (witness == Witness.GOODBYE) {
        lookForStranger();
      } else if (!process.isKnown()) {
        phase = PeerPhase.QUARANTINED;
        LOG.log(Level.WARNING, "{0} has failed; its entry stays, for it may still write", peer);
      }
      return; // otherwise a later look finds that it is gone
    }
    switch (witness) {
      case GOODBYE -> {} // the process ends by itself, in its own time
      case MUTEX, DOORBELL -> process.killAfter(peer.options().killLimit());
      case VIOLATION, TIME_LIMIT, HOST -> kill();
      case PROCESS -> {}
    }
  }

  /** Kills the process if it is a child that is still alive. */
  void kill() {
    process.kill();
  }

  private void processEnded() {
    if (host.segment().isIntact()) {
      look(); // a guest that attached and died at once still counts as attached
    }
    testify(Witness.PROCESS);
    finish();
  }

  /** Delivers the remaining messages and frees everything; the guest writes no more. */
  private void finish() {
    if (phase != PeerPhase.GONE) {
      holdings.giveBack(this::bury, this::finish);
    }
  }

  private void bury() {
    if (host.segment().isIntact()) {
      messages.deliverRest();
    }
    peer.exchange().end();
    phase = PeerPhase.GONE;
    LOG.log(Level.DEBUG, "{0} is gone: {1}", peer, process.status());
    tell(() -> peer.options().listener().onGone(peer, process.status()));
  }

  /** Releases a reservation that was not used. Any thread. */
  void giveUpUnused() {
    if (!host.post(this::giveUpIfUnused)) {
      giveUpIfUnused(); // the loop has no thread any more
    }
  }

  /**
   * Releases the entry if no guest was started for it and none has attached; returns whether the
   * guest is gone.
   */
  // r[impl shm.spawn.reserved-state]
  private boolean giveUpIfUnused() {
    look(); // it may have attached just now
    if (phase != PeerPhase.RESERVED || process.isKnown()) {
      return phase == PeerPhase.GONE;
    }
    phase = PeerPhase.GONE;
    peer.decide();
    holdings.giveBackUnused();
    return true;
  }

  /** Ends everything at once because the host ends, possibly without its loop. */
  void abandon() {
    if (phase != PeerPhase.GONE) {
      phase = PeerPhase.GONE;
      peer.decide();
      holdings.abandon();
    }
  }

  // r[impl shm.death.callback-context]
  private void tell(Runnable notice) {
    try {
      notice.run();
    } catch (RuntimeException | Error e) { // whatever it is, the guest's end goes on
      LOG.log(Level.ERROR, "the listener of " + peer + " failed", e);
    }
  }
}
