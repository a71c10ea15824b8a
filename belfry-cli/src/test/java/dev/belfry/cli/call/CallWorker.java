package dev.belfry.cli.call;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import java.io.IOException;

/** The worker that these tests call. */
public final class CallWorker {
  private CallWorker() {}

  public static void main(String[] args) throws IOException {
    Worker.main(args)
        .on("echo", Request::payload)
        .on("a b/ü", Request::payload)
        .on("sleep", CallWorker::sleep)
        .on("crash", _ -> crash())
        .run();
  }

  private static byte[] sleep(Request request) throws InterruptedException {
    Thread.sleep(Long.parseLong(request.text()));
    return new byte[0];
  }

  private static byte[] crash() throws IOException {
    System.err.println("my last words");
    Processes.kill(Sys.forAnyThread(), (int) ProcessHandle.current().pid(), Signo.KILL);
    throw new AssertionError("dead by now");
  }
}
