package dev.belfry.loop;

import dev.belfry.linux.PidFd;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A program that reports the signals it gets, while threads come and go and the collector runs. On
 * request it starts a child in two ways, which reports the signals it has blocked.
 */
final class SignalReceiver {
  static final int QUEUED = Signo.RTMIN + 6;

  /** The eight of the catalog, and one that queues. */
  static final SigSet SIGNALS =
      SigSet.of(
          Signo.HUP,
          Signo.INT,
          Signo.TERM,
          Signo.USR1,
          Signo.USR2,
          Signo.QUIT,
          Signo.PIPE,
          Signo.ALRM,
          QUEUED);

  private static final Sys SYS = Sys.forAnyThread();
  private static final PrintStream OUT = System.out;
  private static final AtomicReference<byte[]> GARBAGE = new AtomicReference<>(new byte[0]);

  private SignalReceiver() {}

  public static void main(String[] arguments) throws Exception {
    if (arguments.length > 0 && arguments[0].equals("ensure")) {
      SignalLaunch.ensure(SYS);
    }
    startLoad();
    try (EventLoop loop = EventLoop.open()) {
      var service = new SignalService(loop);
      loop.scheduler().execute(() -> receive(loop, service));
      startListening(loop);
      loop.run();
    }
    System.exit(0);
  }

  private static void receive(EventLoop loop, SignalService service) {
    try {
      service.attach(SignalSet.of(SIGNALS));
    } catch (IllegalStateException | IOException e) {
      say("refused " + e.getMessage());
      loop.requestStop();
      return;
    }
    SIGNALS.without(QUEUED).signals().forEach(signum -> callBack(service.next(signum)));
    loop.spawn(
        "queued signals",
        () -> {
          while (true) {
            tell(service.await(QUEUED));
          }
        });
    say("ready");
  }

  private static void callBack(SignalOperation wait) {
    wait.start(
        received -> {
          if (received.hasValue()) {
            tell(received.value());
            callBack(wait);
          }
        });
  }

  private static void tell(SignalInfo info) {
    say(
        "got %d from %d user %d value %d"
            .formatted(
                info.signum(), info.pid(), info.uid(), info.code() < 0 ? info.intValue() : 0));
  }

  private static void startListening(EventLoop loop) {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              try {
                String line;
                while ((line = in.readLine()) != null) {
                  runChild(line.equals("java"));
                }
                loop.requestStop();
              } catch (IOException | InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
  }

  private static void runChild(boolean ofJava) throws IOException, InterruptedException {
    String[] command = {"/bin/grep", "-E", "Sig(Blk|Ign)", "/proc/self/status"};
    if (ofJava) {
      new ProcessBuilder(command).inheritIO().start().waitFor();
    } else {
      try (PidFd child = Spawn.command(command).start(SYS)) {
        child.awaitExit();
      }
    }
  }

  /** Creates threads that come and go, and garbage. */
  private static void startLoad() {
    Thread.ofPlatform()
        .daemon()
        .start(
            () -> {
              while (true) {
                Thread shortLived = Thread.ofPlatform().start(() -> GARBAGE.set(new byte[100_000]));
                try {
                  shortLived.join();
                  Thread.sleep(1);
                } catch (InterruptedException e) {
                  return;
                }
                System.gc();
              }
            });
  }

  private static synchronized void say(String line) {
    OUT.println(line);
    OUT.flush();
  }
}
