package dev.belfry.loop;

import static dev.belfry.loop.SignalReceiver.QUEUED;
import static dev.belfry.loop.SignalReceiver.SIGNALS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Processes;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** A whole program under load, started in every possible way. */
final class SignalLoadTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int EACH = 100;
  private static final int IN_A_BURST = 1000;

  // r[verify sig.mask.all-threads]
  @Test
  void aProgramStartedAsTheLauncherDoesLosesNoSignal() throws Exception {
    try (TestProcess program = TestProcess.javaWithSignals(SignalReceiver.class)) {
      assertLosesNoSignal(program);
      assertChildHasNothingBlocked(program, "java");
      assertChildHasNothingBlocked(program, "spawn");
      program.endInput();
      assertThat(program.exitCode()).isZero();
    }
  }

  // r[verify sig.mask.all-threads]
  @Test
  void aProgramThatStartsItselfAgainLosesNoSignal() throws Exception {
    try (TestProcess program = TestProcess.java(SignalReceiver.class, "ensure")) {
      assertLosesNoSignal(program);
      assertChildHasNothingBlocked(program, "java");
      assertChildHasNothingBlocked(program, "spawn");
    }
  }

  // r[verify sig.attach]
  @Test
  void aProgramThatWasStartedPlainlyIsToldWhichSignalIsUnblockedWhere() throws Exception {
    try (TestProcess program = TestProcess.java(SignalReceiver.class)) {
      assertThat(program.line("refused "))
          .startsWith(SIGNALS + " cannot be attached")
          // The first thread of the process has the inherited mask: nothing blocked.
          .contains(SIGNALS + " in java (" + program.pid() + ")")
          .contains("VM Thread (", "VM Periodic Tas (", "Signal Dispatch (")
          .contains("Start the JVM with them blocked: 'env --block-signal=1,2,3,10,12,13,14,15,40")
          .contains("call SignalLaunch.ensure first in main");
      assertThat(program.exitCode()).isZero();
    }
  }

  private static void assertLosesNoSignal(TestProcess program) throws Exception {
    program.line("ready");
    String sender = "from %d user %s ".formatted(ProcessHandle.current().pid(), uid());
    Set<String> expected =
        SIGNALS
            .without(QUEUED)
            .signals()
            .mapToObj(signum -> "got " + signum + " " + sender + "value 0")
            .collect(Collectors.toCollection(TreeSet::new));
    for (int round = 0; round < EACH; round++) {
      SIGNALS.without(QUEUED).signals().forEach(signum -> kill(program, signum));
      var got = new TreeSet<String>();
      for (int i = 0; i < expected.size(); i++) {
        got.add(program.line());
      }
      assertThat(got).isEqualTo(expected);
      assertThat(blockedEverywhere(program).minus(SigSet.ALL.minus(SIGNALS))).isEqualTo(SIGNALS);
    }
    for (int value = 0; value < IN_A_BURST; value++) {
      Processes.queue(SYS, program.pid(), QUEUED, value);
    }
    for (int value = 0; value < IN_A_BURST; value++) {
      assertThat(program.line()).isEqualTo("got " + QUEUED + " " + sender + "value " + value);
    }
  }

  private static void kill(TestProcess program, int signum) {
    assertThat(SYS.kill(program.pid(), signum)).isZero();
  }

  private static SigSet blockedEverywhere(TestProcess program) throws IOException {
    SigSet blocked = SigSet.ALL;
    for (ThreadSignals thread : ThreadSignals.ofProcess(program.pid())) {
      blocked = blocked.minus(SigSet.ALL.minus(thread.blocked()));
    }
    return blocked;
  }

  private static void assertChildHasNothingBlocked(TestProcess program, String way)
      throws Exception {
    program.say(way);
    assertThat(program.line("SigBlk:").strip()).isEqualTo("0000000000000000");
    SigSet inherited = ThreadSignals.ofThisProcess().getFirst().ignored(); // HUP, under nohup
    // posix_spawn leaves the C library's own signals ignored, which no program can see.
    SigSet unseen = SigSet.range(32, 33);
    long ignored = Long.parseUnsignedLong(program.line("SigIgn:").strip(), 16);
    assertThat(new SigSet(ignored).minus(inherited).minus(unseen)).isEqualTo(SigSet.EMPTY);
  }

  private static Object uid() throws IOException {
    return Files.getAttribute(Path.of("/proc/self"), "unix:uid");
  }
}
