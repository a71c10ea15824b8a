package dev.belfry.gateway;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import java.io.IOException;
import java.util.Locale;

/** The program of the worker processes in these tests. */
public final class TestWorker {
  private TestWorker() {}

  public static void main(String[] args) throws IOException {
    if (System.getenv("WORKER_DIES") != null) {
      System.err.println("I cannot start");
      System.exit(9);
    }
    Worker.main(args)
        .on("echo", Request::payload)
        .on("größe/2+2", request -> Integer.toString(request.payload().length).getBytes(UTF_8))
        .on("upper", request -> request.text().toUpperCase(Locale.ROOT).getBytes(UTF_8))
        .on("pid", _ -> Long.toString(ProcessHandle.current().pid()).getBytes(UTF_8))
        .on("zeros", request -> new byte[Integer.parseInt(request.text())])
        .on("sleep", TestWorker::sleep)
        .on("fail", TestWorker::fail)
        .on("crash", TestWorker::crash)
        .run();
  }

  private static byte[] sleep(Request request) throws InterruptedException {
    Thread.sleep(Long.parseLong(request.text()));
    return "slept".getBytes(UTF_8);
  }

  private static byte[] fail(Request request) {
    throw new IllegalStateException(request.text());
  }

  private static byte[] crash(Request request) throws IOException {
    System.err.println("about to crash: " + request.text());
    Processes.kill(Sys.forAnyThread(), (int) ProcessHandle.current().pid(), Signo.KILL);
    throw new AssertionError("dead by now");
  }
}
