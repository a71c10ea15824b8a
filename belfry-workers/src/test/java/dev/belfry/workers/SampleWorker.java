package dev.belfry.workers;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;

/**
 * A worker for the tests. Its first argument is the number of platform threads that run calls, or
 * 0.
 */
public final class SampleWorker {
  private SampleWorker() {}

  public static void main(String[] args) throws IOException {
    if (System.getenv("SAMPLE_DIES") != null) {
      System.err.println("I cannot start");
      System.exit(9);
    }
    if (System.getenv("SAMPLE_LINGERS") != null) {
      Thread.ofPlatform().start(() -> LockSupport.park());
    }
    Worker worker =
        Worker.main(args)
            .on("echo", Request::payload)
            .on("upper", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8))
            .on("pid", _ -> Long.toString(ProcessHandle.current().pid()).getBytes(UTF_8))
            .on("sleep", SampleWorker::sleep)
            .on("doze", SampleWorker::doze)
            .on("nap", SampleWorker::nap)
            .on("hang", _ -> hang())
            .on("fail", SampleWorker::fail)
            .on("forget", _ -> forget())
            .on("stammer", _ -> stammer())
            .on("unsettle", _ -> unsettle())
            .on("bytes", request -> new byte[Integer.parseInt(request.text())])
            .on("drop", _ -> new byte[0])
            .on("say", SampleWorker::say)
            .on("listen", _ -> Integer.toString(System.in.read()).getBytes(UTF_8))
            .on("note", SampleWorker::note)
            .on("crash", SampleWorker::crash);
    int threads = Integer.parseInt(args[0]);
    if (threads > 0) {
      worker.onPlatformThreads(threads);
    }
    worker.run();
  }

  private static byte[] sleep(Request request) throws InterruptedException {
    Thread.sleep(Long.parseLong(request.text()));
    return "slept".getBytes(UTF_8);
  }

  /** Leaves a trace if it was told to stop. */
  private static byte[] doze(Request request) throws IOException, InterruptedException {
    try {
      Thread.sleep(Duration.ofHours(1));
    } catch (InterruptedException e) {
      Files.createFile(Path.of(request.text()));
      throw e;
    }
    return new byte[0];
  }

  /** Says on what kind of thread it slept, if it slept. */
  private static byte[] nap(Request request) throws InterruptedException {
    long millis = Long.parseLong(request.text());
    if (millis > 0) {
      Thread.sleep(millis);
    }
    return (Thread.currentThread().isVirtual() ? "virtual" : "platform").getBytes(UTF_8);
  }

  @SuppressWarnings("InfiniteLoopStatement")
  private static byte[] hang() {
    while (true) {
      Thread.onSpinWait();
    }
  }

  @SuppressWarnings("NullAway") // as user code might
  private static byte[] forget() {
    return null;
  }

  private static byte[] fail(Request request) {
    throw new IllegalStateException(request.text());
  }

  /** Fails with an exception that cannot even describe itself. */
  private static byte[] stammer() {
    throw new IllegalStateException() {
      @Override
      public String getMessage() {
        throw new UnsupportedOperationException();
      }
    };
  }

  /** Leaves its thread interrupted. */
  private static byte[] unsettle() {
    Thread.currentThread().interrupt();
    return new byte[0];
  }

  private static byte[] say(Request request) {
    System.out.println(request.text());
    return new byte[0];
  }

  /** Leaves a trace of each execution. */
  private static byte[] note(Request request) throws IOException {
    String[] parts = request.text().split(" ", 2);
    Files.writeString(
        Path.of(parts[0]),
        parts[1] + "\n",
        StandardOpenOption.CREATE,
        StandardOpenOption.APPEND,
        StandardOpenOption.DSYNC);
    return parts[1].getBytes(UTF_8);
  }

  private static byte[] crash(Request request) throws IOException {
    System.err.println("about to crash: " + request.text());
    Processes.kill(Sys.forAnyThread(), (int) ProcessHandle.current().pid(), Signo.KILL);
    throw new AssertionError("dead by now");
  }
}
