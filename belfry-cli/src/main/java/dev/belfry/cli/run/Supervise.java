package dev.belfry.cli.run;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Futex;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Processes;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalClaim;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs a host in a child process, and starts it again when it has exited to reload.
 *
 * <p>The child has its own process group, so Ctrl+C at the terminal reaches only this process,
 * which passes it on. Otherwise the child would get it twice, as if pressed twice. The child starts
 * with its signals blocked, so an early signal is not lost and does not kill it.
 */
final class Supervise {
  /** The environment variable that tells the child the supervisor's process id. */
  private static final String VARIABLE = "BELFRY_SUPERVISOR";

  private static final int RESTART = 128 + Signo.HUP;
  private static final SigSet PASSED_ON =
      SigSet.of(Signo.HUP, Signo.INT, Signo.QUIT, Signo.TERM, Signo.USR1, Signo.USR2);

  private static final SigSet ENDING = SigSet.of(Signo.INT, Signo.QUIT, Signo.TERM);

  private final Sys sys;
  private final SignalFd signals;

  /** The first signal that was sent to end the host; zero until then. */
  private int endedBy;

  private Supervise(Sys sys, SignalFd signals) {
    this.sys = sys;
    this.signals = signals;
  }

  /**
   * Supervises a host and returns the exit code of the last child. Blocks in the kernel: use a
   * platform thread.
   *
   * @param reloads whether the host has a configuration to reload; without one it ends on HUP
   */
  static int run(Sys sys, boolean reloads) throws IOException {
    List<String> command = ownCommand();
    try (SignalFd signals = SignalFd.open(sys, SigSet.EMPTY);
        SignalClaim _ =
            SignalClaim.take(PASSED_ON.minus(ignored()), held -> update(signals, held))) {
      var supervise = new Supervise(sys, signals);
      while (true) {
        ExitStatus status = supervise.runOnce(command);
        boolean hasReloaded = reloads && !status.signalled() && status.number() == RESTART;
        if (!hasReloaded) {
          return status.shellCode();
        }
        if (supervise.endedBy != 0) { // it came while the child was exiting to reload
          return 128 + supervise.endedBy;
        }
      }
    }
  }

  /** The signals this process ignores, as HUP under nohup; a signalfd would deliver them. */
  private static SigSet ignored() throws IOException {
    return ThreadSignals.ofThisProcess().getFirst().ignored();
  }

  private static void update(SignalFd signals, SigSet held) {
    try {
      signals.update(held);
    } catch (ErrnoException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the command that started this process, without {@code --supervise}. */
  private static List<String> ownCommand() throws IOException {
    byte[] bytes = Files.readAllBytes(Path.of("/proc/self/cmdline"));
    var command = new ArrayList<String>();
    for (String word : new String(bytes, StandardCharsets.UTF_8).split("\0", -1)) {
      command.add(word);
    }
    command.removeLast(); // the empty text after the last NUL
    command.remove("--supervise");
    command.set(0, Files.readSymbolicLink(Path.of("/proc/self/exe")).toString());
    return command;
  }

  private ExitStatus runOnce(List<String> command) throws IOException {
    try (PidFd child =
            SignalLaunch.spawn(
                    command, Map.of(VARIABLE, Long.toString(ProcessHandle.current().pid())))
                .ownProcessGroup()
                .start(sys);
        Arena arena = Arena.ofConfined()) {
      var either = new PollSet(sys, 2);
      either.set(0, child.number(), PollSet.IN);
      either.set(1, signals.number(), PollSet.IN);
      var records = new SignalRecords(arena, 8);
      while (true) {
        either.await(Futex.FOREVER);
        if (either.happened(1) != 0) {
          passOn(child, records);
        }
        if (either.happened(0) != 0) {
          Optional<ExitStatus> status = child.reap();
          if (status.isPresent()) {
            return status.get();
          }
        }
      }
    }
  }

  private void passOn(PidFd child, SignalRecords records) throws ErrnoException {
    int count = signals.read(records);
    for (int i = 0; i < count; i++) {
      int signal = records.signo(i);
      if (endedBy == 0 && ENDING.contains(signal)) {
        endedBy = signal;
      }
      try {
        child.sendSignal(signal);
      } catch (ErrnoException e) {
        if (!e.is(Errno.ESRCH)) { // it has ended, and needs no signal
          throw e;
        }
      }
    }
  }

  /** Whether this process is the child, and so the host, whatever its command line says. */
  static boolean isChild(Sys sys) {
    return Integer.toString(Processes.parent(sys)).equals(System.getenv(VARIABLE));
  }

  /** In the child: has the kernel send TERM when the supervisor dies, for an orderly end. */
  static void dieWithSupervisor(Sys sys) throws ErrnoException {
    if (isChild(sys)) {
      Processes.setParentDeathSignal(sys, Signo.TERM);
      if (!isChild(sys)) { // the supervisor died before that
        Processes.kill(sys, (int) ProcessHandle.current().pid(), Signo.TERM);
      }
    }
  }
}
