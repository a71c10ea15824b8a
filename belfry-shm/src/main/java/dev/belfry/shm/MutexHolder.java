package dev.belfry.shm;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.RobustHold;
import dev.belfry.linux.Sys;
import java.lang.System.Logger.Level;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

/**
 * Holds the robust mutex of a guest's entry as long as the guest lives, on a thread of its own. The
 * kernel keeps one robust list per thread, with a single offset from list entries to lock words
 * (set_robust_list(2)). So a thread can hold only one mutex whose list entry lies outside shared
 * memory.
 */
final class MutexHolder {
  private static final System.Logger LOG = System.getLogger(MutexHolder.class.getName());

  private final Sys sys;
  private final Segment segment;
  private final MemorySegment word;
  private final CompletableFuture<Boolean> held = new CompletableFuture<>();
  private final CompletableFuture<Boolean> asked = new CompletableFuture<>();
  private final CompletableFuture<Boolean> givenBack = new CompletableFuture<>();

  private MutexHolder(Segment segment, MemorySegment word) {
    this.sys = segment.sys();
    this.segment = segment;
    this.word = word;
  }

  /** Takes a mutex; returns when it is held. */
  static MutexHolder hold(Segment segment, MemorySegment word) throws ErrnoException {
    var holder = new MutexHolder(segment, word);
    Thread.ofPlatform().daemon().name("belfry-mutex").start(holder::run);
    try {
      holder.held.join();
      return holder;
    } catch (CompletionException e) {
      switch (e.getCause()) {
        case ErrnoException refused -> throw refused;
        case InternalError fault -> throw segment.lost(fault);
        case null, default -> throw e;
      }
    }
  }

  /**
   * Releases the mutex; returns when that is done. In truncated memory there is nothing to release.
   */
  void giveBack() {
    asked.complete(true);
    givenBack.join();
  }

  private void run() {
    try {
      RobustHold hold = RobustHold.tryTake(sys, word);
      if (hold == null) {
        throw new ErrnoException("lock", Errno.EBUSY, "the mutex of an entry of " + segment);
      }
      held.complete(true);
      asked.join();
      if (segment.isIntact()) { // in truncated memory a compare-and-set would crash the JVM
        hold.close();
      } else {
        hold.abandon();
      }
    } catch (ErrnoException | RuntimeException | Error e) {
      if (!held.completeExceptionally(e)) {
        LOG.log(Level.WARNING, "cannot give back the mutex of an entry of " + segment, e);
      }
    } finally {
      givenBack.complete(true);
    }
  }
}
