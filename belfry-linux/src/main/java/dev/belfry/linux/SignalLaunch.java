package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The state a JVM must be started in so that signals can be read from a {@link SignalFd}: blocked
 * in every thread. HotSpot starts threads before {@code main} and unblocks some signals in them, so
 * a running program cannot bring itself there; but it can start itself again in the right way, with
 * the same process id, arguments and standard streams.
 *
 * <p>The way is the launcher's: the mask is set before the JVM starts, {@code -Xrs} keeps HotSpot
 * from unblocking HUP, INT and TERM, and {@code _JAVA_SR_SIGNUM} moves its suspend signal away from
 * USR2.
 */
public final class SignalLaunch {
  /**
   * The signals that are blocked. Not among them: 32 and 33, which the C library uses; 62, with
   * which the JDK wakes threads in blocking socket calls; 64, where the suspend signal is moved to;
   * the fault signals, which HotSpot needs.
   */
  public static final SigSet SIGNALS =
      SigSet.of(
              Signo.HUP,
              Signo.INT,
              Signo.QUIT,
              Signo.PIPE,
              Signo.ALRM,
              Signo.USR1,
              Signo.USR2,
              Signo.TERM,
              Signo.CHLD)
          .union(SigSet.range(Signo.RTMIN, 61));

  private static final String SUSPEND_VARIABLE = "_JAVA_SR_SIGNUM";
  private static final int SUSPEND_SIGNAL = 64;

  /** Holds the process id of a JVM that started itself again, so that it does so only once. */
  private static final String GUARD_VARIABLE = "BELFRY_RELAUNCHED";

  private static final List<String> JVM_OPTIONS =
      List.of(
          "-Xrs",
          "--enable-native-access=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  private SignalLaunch() {}

  /**
   * A thread in which signals that should be blocked are not.
   *
   * @param thread the thread
   * @param unblocked the signals it would take for itself
   */
  public record Gap(ThreadSignals thread, SigSet unblocked) {
    @Override
    public String toString() {
      return "thread " + thread.name() + " (" + thread.tid() + ") has unblocked " + unblocked;
    }
  }

  /** The threads of this process in which some of these signals are not blocked; ideally none. */
  public static List<Gap> gaps(SigSet signals) throws IOException {
    var gaps = new ArrayList<Gap>();
    for (ThreadSignals thread : ThreadSignals.ofThisProcess()) {
      SigSet unblocked = signals.minus(thread.blocked());
      if (!unblocked.isEmpty()) {
        gaps.add(new Gap(thread, unblocked));
      }
    }
    return gaps;
  }

  /**
   * The signal with which this JVM suspends threads, and which it unblocks in all of them: USR2, or
   * the one it was told when it was started.
   */
  public static int suspendSignal() {
    return suspendSignal(System.getenv(SUSPEND_VARIABLE));
  }

  /** HotSpot takes only a number above all fault signals. */
  static int suspendSignal(@Nullable String told) {
    if (told != null && told.matches("[0-9]{1,2}")) {
      int signal = Integer.parseInt(told);
      if (signal > Signo.SEGV && signal <= Signo.RTMAX) {
        return signal;
      }
    }
    return Signo.USR2;
  }

  /** Whether this process has started itself again already. */
  public static boolean wasRelaunched() {
    String pid = System.getenv(GUARD_VARIABLE);
    return pid != null && pid.equals(Long.toString(ProcessHandle.current().pid()));
  }

  /**
   * Whether {@link #ensure} would start this JVM again. A program that makes no other system calls
   * asks first, because they take long to set up.
   *
   * @throws IOException if {@code /proc} cannot be read
   */
  public static boolean isNeeded() throws IOException {
    return !wasRelaunched() && !gaps(SIGNALS).isEmpty();
  }

  /**
   * Starts this JVM again in the right state if it is not in it; the first thing {@code main} does.
   * Until then a signal that arrives has its usual effect; afterwards it waits to be read. Does
   * nothing if all is well, or if starting again has not helped: {@link #gaps} tells which.
   *
   * @throws IOException if {@code /proc} cannot be read or the program cannot be started
   */
  public static void ensure(Sys sys) throws IOException {
    if (!isNeeded()) {
      return;
    }
    var arguments = new ArrayList<>(readStrings("/proc/self/cmdline"));
    arguments.addAll(1, JVM_OPTIONS);
    var environment = new ArrayList<>(rawChildEnvironment());
    environment.add(SUSPEND_VARIABLE + "=" + SUSPEND_SIGNAL);
    environment.add(GUARD_VARIABLE + "=" + ProcessHandle.current().pid());
    String program = Files.readSymbolicLink(Path.of("/proc/self/exe")).toString();

    // What a shell made its background job ignore would stay ignored in our children.
    SignalActions.heed(sys, SigSet.of(Signo.INT, Signo.QUIT));
    // Set, not added to: HotSpot has blocked signals of its own in this thread.
    SigSet before = SignalMask.set(sys, SIGNALS);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(program);
      MemorySegment argv = CStrings.array(arena, arguments, CStrings.BYTES);
      MemorySegment envp = CStrings.array(arena, environment, CStrings.BYTES);
      call("execve", program, () -> sys.execve(path, argv, envp));
    } finally {
      SignalMask.set(sys, before); // only reached if it failed
    }
  }

  /**
   * A child that is a JVM in the right state from its first moment on, so that no signal that is
   * sent to it is lost. The command has {@code -Xrs}; the variables come on top of ours.
   */
  public static Spawn spawn(List<String> command, Map<String, String> variables) {
    Spawn child = Spawn.command(command).block(SIGNALS);
    variables.forEach(child::variable);
    return child.variable(SUSPEND_VARIABLE, Integer.toString(SUSPEND_SIGNAL));
  }

  /** Takes out of an environment what was put there to start this JVM. */
  public static void cleanEnvironment(Map<String, String> environment) {
    environment.remove(SUSPEND_VARIABLE);
    environment.remove(GUARD_VARIABLE);
  }

  /**
   * The environment for a child, ours without what was put there to start this JVM, as {@code
   * NAME=value}; byte for byte in {@link CStrings#BYTES}.
   */
  static List<String> rawChildEnvironment() throws IOException {
    return readStrings("/proc/self/environ").stream()
        .filter(variable -> !variable.startsWith(SUSPEND_VARIABLE + "="))
        .filter(variable -> !variable.startsWith(GUARD_VARIABLE + "="))
        .toList();
  }

  /** Strings that each end with a NUL, byte for byte, whatever their encoding. */
  private static List<String> readStrings(String file) throws IOException {
    String[] parts = new String(Files.readAllBytes(Path.of(file)), CStrings.BYTES).split("\0", -1);
    return List.of(parts).subList(0, parts.length - 1); // nothing comes after the last NUL
  }
}
