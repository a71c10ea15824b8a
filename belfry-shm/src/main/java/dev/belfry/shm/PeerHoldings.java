package dev.belfry.shm;

import dev.belfry.linux.RobustMutex;
import dev.belfry.loop.TimerOperation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a host holds for one guest, besides the link: its bell, the watch over its mutex, its
 * process and its entry; and how all that is given back. On the loop thread, unless said otherwise.
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

  /** Any thread, before the ticket is given out. */
  void hear(AsyncDoorbell heard) {
    bell = heard;
  }

  boolean hasBell() {
    return bell != null;
  }

  /** Rings, if there is a bell. */
  void announce() {
    if (bell != null) {
      bell.announce();
    }
  }

  /** Has the mutex watched, if there is one. */
  void watchMutex(Runnable died) {
    RobustMutex mutex = entry.mutex();
    if (mutex != null) {
      watch = new MutexWatch(host.loop(), mutex, host.segment()::isIntact, died);
    }
  }

  /**
   * Takes the link for the host alone, does the last thing with it, and gives everything back. If
   * somebody is just leaving a call that uses the link, which takes a moment, tries again.
   *
   * @param last what to do once nobody else can use the link any more
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
            if (timer.hasValue()) { // else the loop was stopped, and the host's close does the rest
              again.run();
            }
          });
    }
  }

  /** The entry last: from then on it may be another's. */
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

  /** Gives back the entry, for which nobody was started; it may be another's from then on. */
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

  /** Ends everything at once, because the host ends, possibly without its loop. */
  void abandon() {
    process.abandon();
    peer.exchange().link().close();
    endWatch();
    closeBell();
  }
}
