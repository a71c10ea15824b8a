package dev.belfry.bench;

import dev.belfry.linux.Sys;

/** Which of the two sets of system calls a benchmark uses. */
public enum Calls {
  /** Keeps errno in one place: for a thread that has them to itself. */
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
