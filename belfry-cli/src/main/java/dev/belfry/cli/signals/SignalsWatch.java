package dev.belfry.cli.signals;

import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Signo;
import dev.belfry.loop.Coroutine;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.SignalInfo;
import dev.belfry.loop.SignalOperation;
import dev.belfry.loop.SignalService;
import dev.belfry.loop.SignalSet;
import dev.belfry.loop.StoppedException;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code belfry signals watch}: prints the signals it receives. Signals that are not watched keep
 * their usual effect, so INT and TERM end it unless they are named.
 */
@Command(
    name = "watch",
    description = {
      "Prints each signal that this process receives, one per line, until INT or TERM.",
      "If INT is named too, it is printed, and a second one within two seconds ends the watch."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"1:signals cannot be watched", "128+N:ended by signal N, such as 130 by INT"})
final class SignalsWatch implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int INTERRUPTED = 128 + Signo.INT;
  private static final Duration DOUBLE_TAP = Duration.ofSeconds(2);

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Parameters(
      paramLabel = "SIGNAL",
      description =
          "Names or numbers, such as USR1, SIGHUP, 40 or RTMIN+6; by default all that are available"
              + " except INT and TERM.")
  private List<String> names = List.of();

  @Option(names = "--json", description = "Print JSON, one object a line, for other programs.")
  private boolean json;

  private long lastInterruptNanos = System.nanoTime() - DOUBLE_TAP.toNanos();

  @Override
  public Integer call() {
    SignalSet watched = watched();
    var ended = new CountDownLatch(1);
    try (EventLoop loop = EventLoop.open()) {
      Runtime.getRuntime()
          .addShutdownHook(new Thread(() -> stop(loop, ended), "belfry-signals-watch-end"));
      Coroutine<Integer> watch = loop.spawn("signals watch", () -> watch(loop, watched));
      loop.run();
      return watch.result().join();
    } catch (IOException e) {
      return fail(e);
    } finally {
      ended.countDown();
    }
  }

  private SignalSet watched() {
    if (names.isEmpty()) {
      return SignalSet.of(SignalLaunch.SIGNALS).remove(Signo.INT).remove(Signo.TERM);
    }
    var set = SignalSet.of();
    for (String name : names) {
      int signum =
          Signo.parse(name).orElseThrow(() -> wrong("There is no signal '" + name + "'.", null));
      try {
        set.add(signum);
      } catch (IllegalArgumentException refused) {
        throw wrong(String.valueOf(refused.getMessage()), refused);
      }
    }
    return set;
  }

  private ParameterException wrong(String message, @Nullable Throwable cause) {
    return new ParameterException(spec.commandLine(), message, cause);
  }

  /** Runs when the program exits: lets the loop end in good order, so that no line is cut short. */
  private static void stop(EventLoop loop, CountDownLatch ended) {
    loop.requestStop();
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private int watch(EventLoop loop, SignalSet watched) {
    var service = new SignalService(loop);
    try {
      service.attach(watched);
      boolean goOn = print(SignalLine.ready(watched));
      SignalOperation next = service.nextAny(watched);
      while (goOn) { // until standard output has no reader
        SignalInfo info = next.await();
        goOn = print(SignalLine.of(info));
        if (info.signum() == Signo.INT && isDoubleTap()) {
          return INTERRUPTED;
        }
      }
      return 0;
    } catch (StoppedException exiting) {
      return 0; // the exit in progress has its own code
    } catch (IOException | IllegalStateException e) {
      return fail(e);
    } finally {
      loop.requestStop();
    }
  }

  private boolean isDoubleTap() {
    long now = System.nanoTime();
    boolean second = now - lastInterruptNanos < DOUBLE_TAP.toNanos();
    lastInterruptNanos = now;
    if (!second) {
      spec.commandLine().getErr().println("belfry signals watch: INT again within 2 s ends this.");
    }
    return second;
  }

  private boolean print(SignalLine line) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(json ? line.json() : line.text());
    return !out.checkError();
  }

  private int fail(Exception e) {
    spec.commandLine().getErr().println("belfry signals watch: " + Reason.of(e));
    return FAILED;
  }
}
