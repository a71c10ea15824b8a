package dev.belfry.bench;

import dev.belfry.linux.Sys;

/** The set of system calls that a benchmark uses. */
public enum Calls {
  /** Keeps errno in one place: for one thread only. */
  ONE_THREAD {
    @Override
    Sys sys() {
      return Sys.forOneThread();
    }
  },
  /** Looks up where the calling thread keeps its errno. */
  ANY_THREAD {
    @Override
    Sys sys() {
      return Sys.forAnyThread();
    }
  };

  abstract Sys sys();
}
