package dev.belfry.cli;

import dev.belfry.linux.Facilities;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import dev.belfry.loop.LoopCarrier;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What {@code doctor} found. The component names are the field names of the JSON form, which other
 * programs read: do not rename them.
 *
 * @param ok whether everything that Belfry needs is available
 * @param belfry the program's version
 */
record Diagnosis(
    boolean ok,
    String belfry,
    Machine machine,
    List<Finding> facilities,
    SignalMaskState signalMask,
    Finding virtualThreadsOnLoop) {

  /** What the program runs on. */
  record Machine(String java, String kernel, String architecture, String libc) {}

  /**
   * A facility, and whether it is available.
   *
   * @param cause why it is not available; null if it is
   */
  record Finding(
      String name, boolean available, boolean needed, @Nullable String cause, String purpose) {}

  /**
   * Whether the signals that must be blocked are blocked in all threads.
   *
   * @param threads how many threads there are
   * @param relaunched whether the program had to relaunch itself to block them
   * @param cause why the masks could not be read; null if they could
   */
  record SignalMaskState(
      boolean blockedInAllThreads,
      int threads,
      boolean relaunched,
      List<MaskGap> gaps,
      @Nullable String cause) {}

  /** A thread in which signals that should be blocked are not. */
  record MaskGap(String thread, int tid, List<String> unblocked) {}

  static Diagnosis of(Sys sys) {
    List<Finding> facilities =
        Facilities.probe(sys).stream()
            .map(it -> finding(it.name(), it.cause(), Need.of(it.name())))
            .toList();
    SignalMaskState mask = lookAtSignalMask();
    Finding scheduling =
        finding(
            "virtual_threads_on_loop",
            LoopCarrier.unavailabilityCause().orElse(null),
            new Need(false, "resume on the loop's own thread; else by the JDK's scheduler"));
    return new Diagnosis(
        mask.blockedInAllThreads && facilities.stream().allMatch(it -> it.available || !it.needed),
        Version.ofBelfry(),
        new Machine(
            Version.ofJava(), Version.ofKernel(), System.getProperty("os.arch"), Facilities.libc()),
        facilities,
        mask,
        scheduling);
  }

  private static Finding finding(String name, @Nullable String cause, Need need) {
    return new Finding(name, cause == null, need.needed(), cause, need.purpose());
  }

  private static SignalMaskState lookAtSignalMask() {
    boolean relaunched = SignalLaunch.wasRelaunched();
    try {
      int threads = ThreadSignals.ofThisProcess().size();
      List<MaskGap> gaps =
          SignalLaunch.gaps(SignalLaunch.SIGNALS).stream().map(Diagnosis::maskGap).toList();
      return new SignalMaskState(gaps.isEmpty(), threads, relaunched, gaps, null);
    } catch (IOException e) {
      return new SignalMaskState(
          false, 0, relaunched, List.of(), "cannot read /proc/self/task: " + e.getMessage());
    }
  }

  private static MaskGap maskGap(SignalLaunch.Gap gap) {
    return new MaskGap(
        gap.thread().name(),
        gap.thread().tid(),
        gap.unblocked().signals().mapToObj(Signo::name).toList());
  }
}
