package dev.belfry.shm;

import dev.belfry.linux.PidFd;
import dev.belfry.loop.TimerOperation;
import java.lang.System.Logger.Level;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The life of a guest as its host sees it, through the {@link PeerPhase}s. On the loop thread,
 * unless said otherwise.
 */
final class PeerLife {
  private static final System.Logger LOG = System.getLogger(PeerLife.class.getName());
  private static final long DOORSTEP_NANOS = 1_000_000_000;

  /** How long the end of a guest that has left, or whose mutex tells of its death, may take. */
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

  /** Whether its process is a child of ours that has not been reaped. */
  boolean hasChild() {
    return phase != PeerPhase.GONE && process.isChild();
  }

  /** Any thread. */
  PeerMessages messages() {
    return messages;
  }

  // How it begins.

  /** Any thread, before the ticket is given out. */
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
    process.look(); // while it surely lives
    holdings.watchMutex(() -> testify(Witness.MUTEX));
    LOG.log(Level.DEBUG, "{0} has attached", peer);
    peer.decide();
    tell(() -> peer.options().listener().onAttached(peer));
    pump();
  }

  // What is seen of it.

  /** The bell has something. */
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

  /** Looks at its state and at its messages; says whether there were any. */
  // r[impl shm.host.poll-peers]
  boolean lookAround() {
    look();
    return isReadable() && guarded(messages::look);
  }

  /** Hands out its messages. */
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

  /** Whether its messages have to be looked for, because it does not announce them. */
  boolean isPolled() {
    boolean unannounced = !holdings.hasBell() || messages.areSilent();
    return phase == PeerPhase.ATTACHED && messages.areHandedOut() && unannounced;
  }

  /** Whether it ends at any moment and nobody will tell us of its process. */
  boolean isDyingStranger() {
    boolean ends = firstWitness == Witness.GOODBYE || firstWitness == Witness.MUTEX;
    boolean soon = ends && System.nanoTime() - dyingNanos < END_NANOS;
    return phase == PeerPhase.DYING && soon && !hasChild();
  }

  /** The host says goodbye: a guest that has not come yet need not come any more. */
  void hostLeaves() {
    look(); // it may have come just now
    if (phase == PeerPhase.RESERVED) {
      if (!giveUpIfUnused()) {
        testify(Witness.HOST);
      }
    } else if (phase == PeerPhase.ATTACHED) {
      holdings.announce();
    }
  }

  /** Looks at its state; if the segment was cut, the guest's end goes on without it. */
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
   * Whether a guest that walks in has its entry, but not yet the mutex by which its process is
   * known and its death told; it gets that in a moment.
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
    if (entry.isIn(PeerState.ATTACHED)) { // this first, for it may become Goodbye at any moment
      lookForStranger();
      if (isAttached() && heartbeat.hasGotStuck(System.nanoTime())) { // else it is not its beat
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
      finish(); // on the guest's word, given when it was done with its entry
    }
  }

  // How it ends.

  void violated(ShmException violation) {
    if (phase == PeerPhase.ATTACHED) {
      LOG.log(Level.WARNING, "{0} is thrown out: {1}", peer, violation.getMessage());
      messages.sayGoodbye(String.valueOf(violation.getMessage()));
      testify(Witness.VIOLATION);
    }
  }

  void disconnect(String reason) {
    if (holdings.hasBell() && giveUpIfUnused()) {
      return; // it had a ticket, and nobody was started with that
    }
    if (phase == PeerPhase.DYING) {
      kill(); // it has left, and its process is not to go on
      return;
    }
    if (phase == PeerPhase.ATTACHED) {
      messages.sayGoodbye(reason);
    }
    testify(Witness.HOST);
  }

  /** Somebody who must know says that its process has ended. */
  void declareGone() {
    if (process.isKnown()) {
      disconnect("the host was told that this guest's process has ended");
    } else if (phase != PeerPhase.RESERVED) {
      processEnded();
    }
  }

  /** The first witness of its end counts. */
  // r[impl shm.death.dying]
  void testify(Witness witness) {
    if (phase != PeerPhase.RESERVED && phase != PeerPhase.ATTACHED) {
      return;
    }
    if (phase == PeerPhase.RESERVED && (witness == Witness.HOST || witness == Witness.TIME_LIMIT)) {
      kill(); // before it comes, finds its entry given up, and complains of that
    }
    phase = PeerPhase.DYING;
    firstWitness = witness;
    dyingNanos = System.nanoTime();
    entry.giveUp();
    limit.cancel();
    tell(() -> peer.options().listener().onDying(peer, witness));
    peer.exchange().link().close(); // wakes whoever waits for it
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
      return; // whoever says so goes on
    }
    if (!process.isChild()) {
      if (witness == Witness.GOODBYE) {
        lookForStranger();
      } else if (!process.isKnown()) {
        phase = PeerPhase.QUARANTINED;
        LOG.log(Level.WARNING, "{0} has failed; its entry stays, for it may still write", peer);
      }
      return; // else a look will show when it is gone
    }
    switch (witness) {
      case GOODBYE -> {} // it ends by itself, in its own time
      case MUTEX, DOORBELL -> process.killAfter(peer.options().killLimit());
      case VIOLATION, TIME_LIMIT, HOST -> kill();
      case PROCESS -> {}
    }
  }

  /** Kills a child that still lives. */
  void kill() {
    process.kill();
  }

  private void processEnded() {
    if (host.segment().isIntact()) {
      look(); // a guest that attached and died at once has attached all the same
    }
    testify(Witness.PROCESS);
    finish();
  }

  /** Nobody writes any more: delivers the rest, and frees everything. */
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

  /** Gives up a reservation that nobody has used. Any thread. */
  void giveUpUnused() {
    if (!host.post(this::giveUpIfUnused)) {
      giveUpIfUnused(); // the loop has no thread any more
    }
  }

  /** Gives the entry back if nobody was started for it and nobody has come; says whether so. */
  // r[impl shm.spawn.reserved-state]
  private boolean giveUpIfUnused() {
    look(); // somebody may have come just now
    if (phase != PeerPhase.RESERVED || process.isKnown()) {
      return phase == PeerPhase.GONE;
    }
    phase = PeerPhase.GONE;
    peer.decide();
    holdings.giveBackUnused();
    return true;
  }

  /** Ends everything at once, because the host ends, possibly without its loop. */
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
    } catch (RuntimeException | Error e) { // whatever it is, its end goes on
      LOG.log(Level.ERROR, "the listener of " + peer + " failed", e);
    }
  }
}
