package dev.belfry.cli.run;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import java.io.IOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;

/** The worker that comes with the program, for trying things out. */
final class DemoWorker {
  /** The names of its methods. */
  static final List<String> METHODS = List.of("echo", "upper", "sha256", "sleep", "crash");

  private DemoWorker() {}

  public static void main(String[] args) throws IOException {
    Worker.main(args)
        .on("echo", Request::payload)
        .on("upper", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8))
        .on("sha256", request -> sha256(request.payload()))
        .on("sleep", DemoWorker::sleep)
        .on("crash", DemoWorker::crash)
        .run();
  }

  private static byte[] sha256(byte[] payload) throws NoSuchAlgorithmException {
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(payload);
    return HexFormat.of().formatHex(digest).getBytes(UTF_8);
  }

  /** Sleeps for as many milliseconds as the payload says. */
  private static byte[] sleep(Request request) throws InterruptedException {
    long millis;
    try {
      millis = Long.parseLong(request.text().strip());
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException("the payload says how many milliseconds to sleep", e);
    }
    Thread.sleep(millis);
    return "slept %d ms".formatted(millis).getBytes(UTF_8);
  }

  /** Ends this process by the signal that the payload names, KILL by default. */
  private static byte[] crash(Request request) throws ErrnoException, InterruptedException {
    String name = request.text().strip();
    int signal =
        name.isEmpty()
            ? Signo.KILL
            : Signo.parse(name)
                .orElseThrow(() -> new IllegalArgumentException("there is no signal " + name));
    System.err.println("crashing by " + Signo.name(signal) + ", as asked for");
    Processes.kill(Sys.forAnyThread(), (int) ProcessHandle.current().pid(), signal);
    Thread.sleep(request.timeLeft().orElseThrow().toMillis()); // until the signal takes effect
    throw new IllegalStateException(Signo.name(signal) + " does not end this process");
  }
}
