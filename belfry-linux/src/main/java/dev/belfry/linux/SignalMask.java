package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** The signal mask of the calling thread ({@code pthread_sigmask(3)}). */
public final class SignalMask {
  private static final int SIG_BLOCK = 0;
  private static final int SIG_UNBLOCK = 1;
  private static final int SIG_SETMASK = 2;

  private SignalMask() {}

  /** Blocks these signals in addition; returns the previous mask. */
  public static SigSet block(Sys sys, SigSet signals) throws ErrnoException {
    return change(sys, SIG_BLOCK, signals);
  }

  /** Unblocks these signals; returns the previous mask. */
  public static SigSet unblock(Sys sys, SigSet signals) throws ErrnoException {
    return change(sys, SIG_UNBLOCK, signals);
  }

  /** Blocks exactly these signals; returns the previous mask. */
  public static SigSet set(Sys sys, SigSet signals) throws ErrnoException {
    return change(sys, SIG_SETMASK, signals);
  }

  private static SigSet change(Sys sys, int how, SigSet signals) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment old = SigSet.EMPTY.toNative(arena);
      MemorySegment set = signals.toNative(arena);
      call("pthread_sigmask", signals, () -> sys.pthreadSigmask(how, set, old));
      return SigSet.ofNative(old);
    }
  }
}
