package dev.belfry.cli;

import dev.belfry.linux.Errno;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalClaim;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.linux.ThreadSignals;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;

/** Programs for tests that start and signal real processes. They start as the real one does. */
final class SampleProgram {
  private static final Sys SYS = Sys.forAnyThread();
  private static final BufferedReader IN =
      new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));

  private SampleProgram() {}

  public static void main(String[] args) throws Exception {
    SignalLaunch.ensure(SYS);
    if (args[0].equals("late")) {
      ready();
      IN.readLine();
    }
    EndingSignals.start(() -> SYS);
    switch (args[0]) {
      case "late" -> park();
      case "parked" -> readyAnd(SampleProgram::park);
      case "busy" -> readyAnd(SampleProgram::spin);
      case "coroutine" -> coroutine();
      case "in-native-code" -> readyAnd(() -> SYS.poll(MemorySegment.NULL, 0, -1));
      case "hanging-hook" -> hook(SampleProgram::park);
      case "patient-hook" -> hook(SampleProgram::readLine);
      case "claim" -> claim();
      case "stuck-err" -> stuckErr();
      case "closed-out" -> closedOut();
      case "state" -> state(List.of(args).subList(1, args.length));
      case "child-environment" -> childEnvironment();
      case "doctor-without" -> doctorWithout(args[1]);
      default -> throw new IllegalArgumentException(args[0]);
    }
  }

  private static void ready() {
    System.out.println("ready " + ProcessHandle.current().pid());
  }

  private static void readyAnd(Runnable action) {
    ready();
    action.run();
  }

  private static void coroutine() throws InterruptedException {
    Thread.ofVirtual().name("coroutine").start(() -> readyAnd(SampleProgram::park)).join();
  }

  private static void park() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  private static void readLine() {
    try {
      IN.readLine();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void spin() {
    while (true) {
      Thread.onSpinWait();
    }
  }

  private static void hook(Runnable duringShutdown) {
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  System.out.println("hook");
                  duringShutdown.run();
                  System.out.println("hook done");
                }));
    readyAnd(SampleProgram::park);
  }

  /** Claims TERM for one signal, then releases it. */
  private static void claim() throws IOException {
    try (SignalFd signals = SignalFd.openBlocking(SYS, SigSet.EMPTY);
        Arena arena = Arena.ofConfined();
        SignalClaim claim =
            SignalClaim.take(SigSet.of(Signo.TERM), held -> update(signals, held))) {
      ready();
      IN.readLine(); // until then the signal stays pending, unless another reader takes it
      var records = new SignalRecords(arena, 1);
      signals.read(records);
      System.out.println("took " + Signo.name(records.signo(0)) + " of " + claim.held());
    }
    System.out.println("given back");
    park();
  }

  private static void update(SignalFd signals, SigSet held) {
    try {
      signals.update(held);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Fills standard error; a thread that waits for room holds its lock. */
  private static void stuckErr() {
    Thread.ofPlatform()
        .start(
            () -> {
              String line = "x".repeat(1 << 20);
              System.out.println("ready");
              System.err.println(line);
            });
    park();
  }

  private static void closedOut() throws IOException {
    ready();
    IN.readLine(); // by then the reader has closed its end
    while (true) {
      System.out.println("nobody reads this");
    }
  }

  private static void state(List<String> arguments) throws IOException {
    SigSet ignored = ThreadSignals.ofThisProcess().getFirst().ignored();
    System.out.println("gaps " + SignalLaunch.gaps(SignalLaunch.SIGNALS));
    System.out.println("relaunched " + SignalLaunch.wasRelaunched());
    System.out.println("ignored " + ignored.minus(SigSet.range(32, 33)));
    System.out.println("caught USR2 " + caught().contains(Signo.USR2));
    System.out.println("arguments " + arguments);
    System.out.println("property " + System.getProperty("sample.one") + System.getProperty("two"));
    System.out.println("input " + IN.readLine());
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      for (Path descriptor : descriptors.toList()) {
        if (Files.isSymbolicLink(descriptor)) {
          System.out.println("descriptor " + Files.readSymbolicLink(descriptor));
        }
      }
    }
  }

  private static SigSet caught() throws IOException {
    return ThreadSignals.ofThisProcess().getFirst().caught();
  }

  private static void childEnvironment() throws Exception {
    try (PidFd child = Spawn.command("env").start(SYS)) {
      System.exit(child.awaitExit().shellCode());
    }
  }

  /** Runs the real doctor on a machine that lacks one system call. */
  private static void doctorWithout(String call) {
    Sys sys = FaultySys.failing(Map.of(call, Errno.ENOSYS));
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    System.exit(BelfryCommand.execute(() -> sys, System.out, out, out, "doctor"));
  }
}
