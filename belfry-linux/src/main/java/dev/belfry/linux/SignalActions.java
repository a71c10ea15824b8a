package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** The actions taken when signals are delivered ({@code sigaction(2)}), for the whole process. */
public final class SignalActions {
  /**
   * More than {@code struct sigaction} needs. It begins with the handler; all zero means {@code
   * SIG_DFL} without flags.
   */
  private static final long SIGACTION_BYTES = 256;

  private static final long SIG_IGN = 1;

  private SignalActions() {}

  /** Resets these signals to their default action; a handler set by the JVM would be lost. */
  public static void restoreDefault(Sys sys, SigSet signals) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(SIGACTION_BYTES, Long.BYTES);
      for (int signal : signals.signals().toArray()) {
        call(
            "sigaction",
            Signo.name(signal),
            () -> sys.sigaction(signal, action, MemorySegment.NULL));
      }
    }
  }

  /** Resets those of these signals that are ignored to their default action. */
  static void heed(Sys sys, SigSet signals) throws ErrnoException {
    for (int signal : signals.signals().toArray()) {
      if (isIgnored(sys, signal)) {
        restoreDefault(sys, SigSet.of(signal));
      }
    }
  }

  private static boolean isIgnored(Sys sys, int signal) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment action = arena.allocate(SIGACTION_BYTES, Long.BYTES);
      call(
          "sigaction", Signo.name(signal), () -> sys.sigaction(signal, MemorySegment.NULL, action));
      return action.get(ValueLayout.JAVA_LONG, 0) == SIG_IGN;
    }
  }
}
