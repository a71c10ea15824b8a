package dev.belfry.shm;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.RobustMutex;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.TimerOperation;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The life of a guest as its host sees it. On the loop thread, unless said otherwise.
 *
 * <pre>
 *   RESERVED ──► ATTACHED ──► DYING ──────────────────────► GONE
 *       │  guest claims  first witness   process has ended
 *       └────────────────────► DYING      and ring is empty
 * </pre>
 */
final class PeerLife {
  private static final System.Logger LOG = System.getLogger(PeerLife.class.getName());
  private static final Duration RETRY = Duration.ofMillis(1);
  private static final long DOORSTEP_NANOS = 1_000_000_000;

  private enum Phase {
    /** Kept for a guest that was or will be started. */
    RESERVED,
    /** It works. */
    ATTACHED,
    /** There is a witness of its end; perhaps something of it still lives. */
    DYING,
    /** Its end was noticed, but whether its process lives on cannot be known: kept for ever. */
    QUARANTINED,
    /** Nothing of it is left. */
    GONE
  }

  private final ShmHost host;
  private final EventLoop loop;
  private final Peer peer;
  private final int epoch;
  private final PeerMessages messages;
  private final Heartbeat heartbeat;
  private final @Nullable RobustMutex mutex;
  private final PeerProcess process;
  private final TimerOperation limit;
  private final TimerOperation retry;
  private final long seenNanos = System.nanoTime();

  private @Nullable AsyncDoorbell bell;
  private MutexWatch.@Nullable Watched watched;
  private volatile Phase phase = Phase.RESERVED;
  private @Nullable Witness firstWitness;
  private boolean retrying;

  PeerLife(ShmHost host, Peer peer) {
    this.host = host;
    this.loop = host.loop();
    this.peer = peer;
    this.epoch = host.segment().peers().epoch(peer.id());
    this.mutex = host.mutex(peer.id());
    var lock = new EntryLock(host.segment(), peer.id());
    this.process = new PeerProcess(host.sys(), loop, mutex, lock, this::processEnded);
    this.messages = new PeerMessages(host, peer);
    this.heartbeat = new Heartbeat(host.segment(), peer.id());
    this.limit = loop.scheduler().after(peer.options().attachLimit());
    this.retry = loop.scheduler().after(RETRY);
  }

  /** Any thread. */
  OptionalInt pid() {
    return process.pid();
  }

  /** Any thread. */
  boolean isAttached() {
    return phase == Phase.ATTACHED;
  }

  /** Any thread. */
  Peer peer() {
    return peer;
  }

  boolean isGone() {
    return phase == Phase.GONE;
  }

  /** Whether its process is a child of ours that has not been reaped. */
  boolean hasChild() {
    return phase != Phase.GONE && process.isChild();
  }

  /** Any thread. */
  PeerMessages messages() {
    return messages;
  }

  // How it begins.

  /** Any thread, before the ticket is given out. */
  void hear(AsyncDoorbell heard) {
    bell = heard;
  }

  void spawned(PidFd child) {
    process.started(child);
    limit.start(
        timer -> {
          if (timer.hasValue() && phase == Phase.RESERVED) {
            testify(Witness.TIME_LIMIT);
          }
        });
  }

  private void attached() {
    phase = Phase.ATTACHED;
    heartbeat.begin();
    limit.cancel();
    process.look(); // while it surely lives
    if (mutex != null) {
      watched = host.mutexWatch().watch(mutex, () -> host.post(() -> testify(Witness.MUTEX)));
    }
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
    return phase == Phase.ATTACHED || phase == Phase.DYING;
  }

  private boolean guarded(BooleanSupplier look) {
    try {
      return look.getAsBoolean();
    } catch (ShmException e) {
      violated(e);
      return false;
    }
  }

  /** Whether its messages have to be looked for, because it does not announce them. */
  boolean isPolled() {
    boolean unannounced = bell == null || messages.areSilent();
    return phase == Phase.ATTACHED && messages.areHandedOut() && unannounced;
  }

  /** Whether it dies as a process that nobody tells us of. */
  boolean isDyingStranger() {
    return phase == Phase.DYING && !hasChild();
  }

  /** The host says goodbye: a guest that has not come yet need not come any more. */
  void hostLeaves() {
    if (phase == Phase.RESERVED) {
      if (!giveUpIfUnused()) {
        testify(Witness.HOST);
      }
    } else if (bell != null && phase == Phase.ATTACHED) {
      bell.announce();
    }
  }

  private boolean isIn(PeerState state) {
    return host.segment().peers().isIn(peer.id(), state, epoch);
  }

  private void look() {
    switch (phase) {
      case RESERVED -> {
        if (!isIn(PeerState.RESERVED) && !isOnTheDoorstep()) {
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
    return bell == null
        && mutex != null
        && !process.showsLife()
        && isIn(PeerState.ATTACHED)
        && System.nanoTime() - seenNanos < DOORSTEP_NANOS;
  }

  private void lookAttached() {
    if (phase != Phase.ATTACHED) {
      return;
    }
    if (isIn(PeerState.ATTACHED)) { // this first, for it may become Goodbye at any moment
      lookForStranger();
      if (heartbeat.hasGotStuck()) {
        tell(() -> peer.options().listener().onStuck(peer));
      }
    } else if (isIn(PeerState.GOODBYE)) {
      testify(Witness.GOODBYE);
    } else {
      LOG.log(Level.WARNING, "{0} has changed its own entry", peer);
      testify(Witness.VIOLATION);
    }
  }

  private void lookForStranger() {
    boolean left = phase == Phase.DYING && firstWitness == Witness.GOODBYE && !hasChild();
    if (!left) {
      process.look();
    } else if (!process.showsLife()) {
      finish(); // on the guest's word, given when it had done with its entry
    }
  }

  // How it ends.

  void violated(ShmException violation) {
    if (phase == Phase.ATTACHED) {
      LOG.log(Level.WARNING, "{0} is thrown out: {1}", peer, violation.getMessage());
      messages.sayGoodbye(String.valueOf(violation.getMessage()));
      testify(Witness.VIOLATION);
    }
  }

  void disconnect(String reason) {
    if (phase == Phase.ATTACHED) {
      messages.sayGoodbye(reason);
    }
    testify(Witness.HOST);
  }

  /** Somebody who must know says that its process has ended. */
  void declareGone() {
    if (process.isKnown()) {
      disconnect("the host was told that this guest's process has ended");
    } else if (phase != Phase.RESERVED) {
      processEnded();
    }
  }

  /** The first witness of its end counts. */
  // r[impl shm.death.dying]
  void testify(Witness witness) {
    if (phase != Phase.RESERVED && phase != Phase.ATTACHED) {
      return;
    }
    phase = Phase.DYING;
    firstWitness = witness;
    host.segment().peers().giveUp(peer.id(), epoch);
    limit.cancel();
    tell(() -> peer.options().listener().onDying(peer, witness));
    peer.exchange().link().close(); // wakes who waits for it
    peer.decide();
    LOG.log(Level.DEBUG, "{0} is dying: {1}", peer, witness);
    pump();
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
        phase = Phase.QUARANTINED;
        LOG.log(Level.WARNING, "{0} has failed; its entry stays, for it may still write", peer);
      }
      return; // else a look will show when it is gone
    }
    switch (witness) {
      case GOODBYE -> {} // it ends by itself, in its own time
      case MUTEX, DOORBELL ->
          loop.scheduler()
              .after(peer.options().killLimit())
              .start(
                  timer -> {
                    if (timer.hasValue()) {
                      kill();
                    }
                  });
      case VIOLATION, TIME_LIMIT, HOST -> kill();
      case PROCESS -> {}
    }
  }

  /** Kills a child that still lives. */
  void kill() {
    process.kill();
  }

  private void processEnded() {
    look(); // a guest that attached and died at once has attached all the same
    testify(Witness.PROCESS);
    finish();
  }

  /** Nobody writes any more: delivers the rest, and frees everything. */
  // r[impl shm.death.gone] r[impl shm.death.recovery]
  private void finish() {
    if (phase == Phase.GONE) {
      return;
    }
    Exchange exchange = peer.exchange();
    exchange.link().close();
    if (!exchange.tryQuiet()) {
      retryFinish();
      return;
    }
    try {
      messages.deliverRest();
      exchange.end();
      phase = Phase.GONE;
      tell(() -> peer.options().listener().onGone(peer, process.status()));
      free();
    } finally {
      exchange.endQuiet();
      LOG.log(Level.DEBUG, "{0} is gone: {1}", peer, process.status());
      host.left();
    }
  }

  /** Somebody is leaving a call that uses the link, which takes a moment. */
  private void retryFinish() {
    if (!retrying) {
      retrying = true;
      retry.start(
          _ -> {
            retrying = false;
            finish();
          });
    }
  }

  /** The entry last: from then on it may be another's. */
  private void free() {
    if (watched != null) {
      watched.forget();
    }
    if (bell != null) {
      bell.close();
    }
    process.close();
    host.recover(this, peer.id(), epoch);
  }

  /** Gives a reservation up that nobody has used. Any thread. */
  void giveUpUnused() {
    host.post(this::giveUpIfUnused);
  }

  /** Gives the entry back if nobody was started for it and nobody has come; says whether so. */
  // r[impl shm.spawn.reserved-state]
  private boolean giveUpIfUnused() {
    if (phase != Phase.RESERVED || process.isKnown()) {
      return phase == Phase.GONE;
    }
    phase = Phase.GONE;
    peer.exchange().link().close();
    peer.decide();
    if (bell != null) {
      bell.close();
    }
    host.release(peer.id());
    host.left();
    return true;
  }

  /** Ends everything at once, because the host ends, possibly without its loop. */
  void abandon() {
    if (phase != Phase.GONE) {
      process.killAndReap();
      process.close();
    }
    phase = Phase.GONE;
    peer.exchange().link().close();
    peer.decide();
    if (bell != null) {
      bell.close();
    }
  }

  // r[impl shm.death.callback-context]
  private void tell(Runnable notice) {
    try {
      notice.run();
    } catch (RuntimeException e) {
      LOG.log(Level.ERROR, "the listener of " + peer + " failed", e);
    }
  }
}
