package dev.belfry.cli.top;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.cli.counters.CountersWriter;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.testkit.TestProcess;
import dev.belfry.workers.CallException;
import dev.belfry.workers.PoolOptions;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import dev.belfry.workers.WorkerPool;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;

/** A host with a real pool under constant calls, until it reads a line or is killed. */
public final class BusyHost {
  private BusyHost() {}

  /** Takes the host's name and the number of calling threads. */
  public static void main(String[] args) throws IOException, InterruptedException {
    RunDirectory directory = RunDirectory.ofUser();
    Path counters = directory.newCountersFile();
    var options =
        PoolOptions.of(new ArrayList<>(TestProcess.javaCommand(EchoWorker.class)))
            .name(args[0])
            .workers(2)
            .spares(1);
    try (WorkerPool pool = WorkerPool.open(options)) {
      pool.awaitReady(Duration.ofSeconds(60));
      var entry =
          new HostEntry(
              ProcessHandle.current().pid(), args[0], null, null, counters, null, Instant.now());
      try (var _ = CountersWriter.open(counters, pool::status);
          var _ = directory.announce(entry)) {
        for (int i = 0; i < Integer.parseInt(args[1]); i++) {
          Thread.ofPlatform().daemon().start(() -> callForEver(pool));
        }
        System.out.println("ready");
        System.in.read();
      }
    }
  }

  private static void callForEver(WorkerPool pool) {
    byte[] payload = "hello".getBytes(UTF_8);
    try {
      while (true) {
        pool.call("echo", payload);
        Thread.sleep(1); // leaves the processor to others
      }
    } catch (CallException | InterruptedException ended) {
      // The host ends.
    }
  }

  /** The workers of this host. */
  static final class EchoWorker {
    private EchoWorker() {}

    public static void main(String[] args) throws IOException {
      Worker.main(args).on("echo", Request::payload).run();
    }
  }
}
