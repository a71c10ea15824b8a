package dev.belfry.testkit;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Futex;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalMask;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A JVM that relaunches itself with signals blocked, prints the result, runs the program {@code
 * probe}, and then reads signals and prints them until TERM. It has no other reader of signals.
 */
final class SignalProgram {
  private static final Sys SYS = Sys.forAnyThread();

  private SignalProgram() {}

  public static void main(String[] args) throws Exception {
    say("main", ProcessHandle.current().pid(), SignalLaunch.wasRelaunched());
    SignalLaunch.ensure(SYS);
    say("gaps", SignalLaunch.gaps(SignalLaunch.SIGNALS));
    say("command", hex("/proc/self/cmdline"));
    say("mask", SignalMask.block(SYS, SigSet.EMPTY));
    say("ignored", ThreadSignals.ofThisProcess().getFirst().ignored());
    for (String name : new String[] {"BELFRY_RELAUNCHED", "_JAVA_SR_SIGNUM"}) {
      say("variable", name, System.getenv(name));
    }
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.err.println("error stream");
    say("echo", input.readLine());
    try (PidFd child = Spawn.command(args[0]).start(SYS)) {
      child.awaitExit();
    }
    readSignals(input);
  }

  private static void readSignals(BufferedReader input) throws Exception {
    try (SignalFd waiting = SignalFd.openBlocking(SYS, SigSet.EMPTY);
        SignalFd never = SignalFd.open(SYS, SigSet.EMPTY)) {
      say("non-blocking", nonBlocking(waiting), nonBlocking(never));
      say("close-on-exec", closeOnExec(waiting), closeOnExec(never));
    }
    var records = new SignalRecords(Arena.ofAuto(), 4);
    try (SignalFd signals = SignalFd.open(SYS, SignalLaunch.SIGNALS.without(Signo.USR2))) {
      int pending = signals.read(records);
      say(
          "waiting",
          pending == 1
              ? Signo.name(records.signo(0)) + " status " + records.status(0)
              : Errno.name(-pending));
      say("ready");
      boolean go = true;
      while (go) {
        var set = new PollSet(SYS, 1);
        set.set(0, signals.number(), PollSet.IN);
        set.await(Futex.FOREVER);
        int count = signals.read(records);
        for (int i = 0; i < count; i++) {
          say(
              "got",
              Signo.name(records.signo(i)),
              "code",
              records.code(i),
              "from",
              records.pid(i),
              "user",
              records.uid(i),
              "value",
              records.value(i),
              "errno",
              records.errno(i));
          go &= records.signo(i) != Signo.TERM;
          if (records.signo(i) == Signo.ALRM) {
            signals.update(SigSet.of(Signo.USR2, Signo.TERM));
            say("updated");
          }
        }
      }
    }
    say("input", input.readLine());
  }

  private static boolean nonBlocking(SignalFd signals) throws ErrnoException {
    return FdFlags.isNonBlocking(SYS, signals.number());
  }

  private static boolean closeOnExec(SignalFd signals) throws ErrnoException {
    return FdFlags.isCloseOnExec(SYS, signals.number());
  }

  private static String hex(String file) throws Exception {
    return HexFormat.of().formatHex(Files.readAllBytes(Path.of(file)));
  }

  private static void say(Object... words) {
    System.out.println(Stream.of(words).map(String::valueOf).collect(Collectors.joining(" ")));
    System.out.flush();
  }
}
