package dev.belfry.shm;

import dev.belfry.linux.RobustMutex;
import dev.belfry.loop.TimerOperation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a host holds for one guest besides the link: its bell, the watch over its mutex, its process
 * and its entry; and how these are released. Confined to the loop thread unless stated otherwise.
 */
final class PeerHoldings {
  private static final Duration RETRY = Duration.ofMillis(1);

  private final ShmHost host;
  private final Peer peer;
  private final PeerEntry entry;
  private final PeerProcess process;
  private final TimerOperation retry;

  private @Nullable AsyncDoorbell bell;
  private @Nullable MutexWatch watch;
  private boolean retrying;

  PeerHoldings(ShmHost host, Peer peer, Runnable processEnded) {
    this.host = host;
    this.peer = peer;
    this.entry = new PeerEntry(host.segment(), peer.id());
    this.process =
        new PeerProcess(host.loop(), host.segment(), entry.mutex(), entry.lock(), processEnded);
    this.retry = host.loop().scheduler().after(RETRY);
  }

  PeerEntry entry() {
    return entry;
  }

  PeerProcess process() {
    return process;
  }

  /** Any thread, before the ticket is handed out. */
  void hear(AsyncDoorbell heard) {
    bell = heard;
  }

  boolean hasBell() {
    return bell != null;
  }

  /** Rings the bell, if there is one. */
  void announce() {
    if (bell != null) {
      bell.announce();
    }
  }

  /** Starts to watch the mutex, if there is one. */
  void watchMutex(Runnable died) {
    RobustMutex mutex = entry.mutex();
    if (mutex != null) {
      watch = new MutexWatch(host.loop(), mutex, host.segment()::isIntact, died);
    }
  }

  /**
   * Takes the link for the host alone, runs a last action on it, and releases everything. If a
   * thread is just leaving a call on the link, which takes a moment, tries again.
   *
   * @param last runs when no other thread can use the link any more
   */
  // r[impl shm.death.gone] r[impl shm.death.recovery]
  void giveBack(Runnable last, Runnable again) {
    whenQuiet(
        () -> {
          last.run();
          free();
        },
        again);
  }

  private void whenQuiet(Runnable action, Runnable again) {
    Exchange exchange = peer.exchange();
    exchange.link().close();
    if (!exchange.tryQuiet()) {
      tryAgain(again);
      return;
    }
    try {
      action.run();
    } finally {
      exchange.endQuiet();
      host.left();
    }
  }

  private void tryAgain(Runnable again) {
    if (!retrying) {
      retrying = true;
      retry.start(
          timer -> {
            retrying = false;
            if (timer.hasValue()) { // otherwise the loop was stopped; closing does the rest
              again.run();
            }
          });
    }
  }

  /** The entry last: from then on another guest may take it. */
  private void free() {
    endWatch();
    closeBell();
    process.close();
    host.forget(peer.id());
    entry.recover();
  }

  private void endWatch() {
    if (watch != null) {
      watch.end();
    }
  }

  private void closeBell() {
    if (bell != null) {
      bell.close();
    }
  }

  /** Releases an entry for which no guest was started; from then on another may take it. */
  void giveBackUnused() {
    closeBell();
    whenQuiet(
        () -> {
          peer.exchange().end();
          host.forget(peer.id());
          entry.release();
        },
        this::giveBackUnused);
  }

  /** Ends everything at once because the host ends, possibly without its loop. */
  void abandon() {
    process.abandon();
    peer.exchange().link().close();
    endWatch();
    closeBell();
  }
}
