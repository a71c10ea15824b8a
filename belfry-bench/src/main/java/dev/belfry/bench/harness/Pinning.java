package dev.belfry.bench.harness;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.util.BitSet;

/** The processor that a thread is pinned to, or a process, which inherits it from its parent. */
public enum Pinning {
  /** Any. */
  NONE,
  /** The first, where the load is generated. */
  FIRST,
  /** The last, where the measured process runs. */
  LAST;

  /** Starts a process pinned to this processor. */
  Process start(ProcessBuilder builder) throws IOException {
    if (this == NONE) {
      return builder.start();
    }
    BitSet before = allowed();
    stay();
    try {
      return builder.start();
    } finally {
      Affinity.set(Sys.forAnyThread(), Affinity.THIS_THREAD, before);
    }
  }

  /** Pins the calling thread to this processor. */
  public void stay() throws ErrnoException {
    switch (this) {
      case NONE -> {}
      case FIRST -> stayOn(allowed().nextSetBit(0));
      case LAST -> stayOn(allowed().length() - 1);
    }
  }

  static void stayOn(int processor) throws ErrnoException {
    var only = new BitSet();
    only.set(processor);
    Affinity.set(Sys.forAnyThread(), Affinity.THIS_THREAD, only);
  }

  private static BitSet allowed() throws ErrnoException {
    return Affinity.get(Sys.forAnyThread(), Affinity.THIS_THREAD);
  }
}
