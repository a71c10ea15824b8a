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
 * The state a JVM must be started in to read signals from a {@link SignalFd}: with the signals
 * blocked in every thread. HotSpot starts threads before {@code main} and unblocks some signals in
 * them, so a running program cannot get into that state by itself. But it can re-execute itself,
 * with the same process id, arguments and standard streams.
 *
 * <p>It does so as the launcher does: the mask is set before the JVM starts, {@code -Xrs} keeps
 * HotSpot from unblocking HUP, INT and TERM, and {@code _JAVA_SR_SIGNUM} moves its suspend signal
 * away from USR2.
 */
public final class SignalLaunch {
  /**
   * The signals to block. Not included are 32 and 33, which the C library uses; 62, with which the
   * JDK wakes threads in blocking socket calls; 64, the new suspend signal; and the fault signals,
   * which HotSpot needs.
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

  /** Holds the process id of a JVM that has re-executed itself, so that it does so only once. */
  private static final String GUARD_VARIABLE = "BELFRY_RELAUNCHED";

  private static final List<String> JVM_OPTIONS =
      List.of(
          "-Xrs",
          "--enable-native-access=ALL-UNNAMED",
          "--add-opens=java.base/java.lang=ALL-UNNAMED");

  private SignalLaunch() {}

  /**
   * A thread in which some signals are not blocked as they should be.
   *
   * @param thread the thread
   * @param unblocked the signals that could be delivered to it
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
   * the one it was configured with at its start.
   */
  public static int suspendSignal() {
    return suspendSignal(System.getenv(SUSPEND_VARIABLE));
  }

  /** HotSpot accepts only numbers above all fault signals. */
  static int suspendSignal(@Nullable String told) {
    if (told != null && told.matches("[0-9]{1,2}")) {
      int signal = Integer.parseInt(told);
      if (signal > Signo.SEGV && signal <= Signo.RTMAX) {
        return signal;
      }
    }
    return Signo.USR2;
  }

  /** Whether this process has already re-executed itself. */
  public static boolean wasRelaunched() {
    String pid = System.getenv(GUARD_VARIABLE);
    return pid != null && pid.equals(Long.toString(ProcessHandle.current().pid()));
  }

  /**
   * Whether {@link #ensure} would re-execute this JVM. A program that makes no other system calls
   * should ask first, because setting them up takes long.
   *
   * @throws IOException if {@code /proc} cannot be read
   */
  public static boolean isNeeded() throws IOException {
    return !wasRelaunched() && !gaps(SIGNALS).isEmpty();
  }

  /**
   * Re-executes this JVM in the right state if it is not in it; call this first in {@code main}.
   * Before that, a signal has its usual effect; afterwards it stays pending until it is read. Does
   * nothing if the state is right, or if re-executing has not helped; {@link #gaps} tells which.
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

    // Signals that a shell makes its background jobs ignore would stay ignored in our children.
    SignalActions.heed(sys, SigSet.of(Signo.INT, Signo.QUIT));
    // Set, not added to: HotSpot has blocked signals of its own in this thread.
    SigSet before = SignalMask.set(sys, SIGNALS);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment path = arena.allocateFrom(program);
      MemorySegment argv = CStrings.array(arena, arguments, CStrings.BYTES);
      MemorySegment envp = CStrings.array(arena, environment, CStrings.BYTES);
      call("execve", program, () -> sys.execve(path, argv, envp));
    } finally {
      SignalMask.set(sys, before); // only reached if execve failed
    }
  }

  /**
   * Prepares a child JVM that is in the right state from the start, so that no signal sent to it is
   * lost. The command must include {@code -Xrs}; the variables are added to our environment.
   */
  public static Spawn spawn(List<String> command, Map<String, String> variables) {
    Spawn child = Spawn.command(command).block(SIGNALS);
    variables.forEach(child::variable);
    return child.variable(SUSPEND_VARIABLE, Integer.toString(SUSPEND_SIGNAL));
  }

  /** Removes the variables that were added to start this JVM. */
  public static void cleanEnvironment(Map<String, String> environment) {
    environment.remove(SUSPEND_VARIABLE);
    environment.remove(GUARD_VARIABLE);
  }

  /**
   * Our environment without the variables that were added to start this JVM, as {@code NAME=value};
   * byte for byte in {@link CStrings#BYTES}.
   */
  static List<String> rawChildEnvironment() throws IOException {
    return readStrings("/proc/self/environ").stream()
        .filter(variable -> !variable.startsWith(SUSPEND_VARIABLE + "="))
        .filter(variable -> !variable.startsWith(GUARD_VARIABLE + "="))
        .toList();
  }

  /** Reads NUL-terminated strings byte for byte, whatever their encoding. */
  private static List<String> readStrings(String file) throws IOException {
    String[] parts = new String(Files.readAllBytes(Path.of(file)), CStrings.BYTES).split("\0", -1);
    return List.of(parts).subList(0, parts.length - 1); // nothing follows the last NUL
  }
}
