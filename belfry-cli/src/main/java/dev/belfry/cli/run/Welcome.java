package dev.belfry.cli.run;

import dev.belfry.cli.config.HostConfig;
import dev.belfry.cli.config.WorkerProgram;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import dev.belfry.workers.PoolStatus;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Says what is running and, for the demonstration, what to try. */
final class Welcome {
  private static final int STANDARD_OUTPUT = 1;

  private final PrintWriter out;

  Welcome(PrintWriter out) {
    this.out = out;
  }

  void say(HostConfig config, HostEntry host, Optional<Token> token, PoolStatus pool) {
    int workers = config.workers().count();
    int spares = config.workers().spares();
    out.printf("%s: %d worker%s and %d spare%s", host, workers, s(workers), spares, s(spares));
    out.println();
    URI gateway = host.gateway();
    URI admin = host.admin();
    if (gateway != null) {
      out.println("  calls   POST " + gateway + "/call/METHOD" + methods(config));
    }
    if (admin != null) {
      out.println("  console " + admin + "/");
    }
    token.ifPresent(it -> out.println("  token   " + text(it)));
    if (config.workers().program() instanceof WorkerProgram.Demo) {
      out.println();
      out.println("Try, in another terminal: a call, the death of a worker, the end of all this:");
      out.println();
      tries(host.pid(), gateway, pool);
      out.println();
    }
  }

  private void tries(long pid, @Nullable URI gateway, PoolStatus pool) {
    if (gateway != null) {
      out.println("curl -d 'hello, worker' " + gateway + "/call/upper");
    }
    pool.workers().stream()
        .filter(PoolStatus.WorkerStatus::isReady)
        .findFirst()
        .ifPresent(worker -> out.println("kill -KILL " + worker.pid()));
    out.println("kill -TERM " + pid);
  }

  private static String methods(HostConfig config) {
    return config.workers().program() instanceof WorkerProgram.Demo
        ? " of " + String.join(", ", DemoWorker.METHODS)
        : "";
  }

  private static String text(Token token) {
    return token
        .news()
        .filter(_ -> isTerminal())
        .map(it -> it + " (said only now; it is in " + token.file() + ")")
        .orElse("in " + token.file());
  }

  /** Whether a person reads this. A log stays, and others may read it. */
  private static boolean isTerminal() {
    try {
      return Terminal.size(Sys.forAnyThread(), STANDARD_OUTPUT) != null;
    } catch (ErrnoException e) {
      return false;
    }
  }

  private static String s(int count) {
    return count == 1 ? "" : "s";
  }
}
