package dev.belfry.bench.harness;

import dev.belfry.linux.Affinity;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.util.BitSet;

/** On which processor a process is kept. It inherits that from the thread that starts it. */
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
    Sys sys = Sys.forAnyThread();
    BitSet before = Affinity.get(sys, Affinity.THIS_THREAD);
    var only = new BitSet();
    only.set(this == FIRST ? before.nextSetBit(0) : before.length() - 1);
    Affinity.set(sys, Affinity.THIS_THREAD, only);
    try {
      return builder.start();
    } finally {
      Affinity.set(sys, Affinity.THIS_THREAD, before);
    }
  }
}
