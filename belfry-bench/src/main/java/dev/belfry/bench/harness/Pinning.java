package dev.belfry.bench.harness;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.util.BitSet;

/** On which processor a thread is kept, and a process, which inherits it from who starts it. */
public enum Pinning {
  /** On any. */
  NONE,
  /** On the first, where the load is made. */
  FIRST,
  /** On the last, where the measured process runs. */
  LAST;

  /** Starts a process where it belongs. */
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

  /** Keeps the calling thread where it belongs. */
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
