package dev.belfry.cli.run;

import dev.belfry.cli.config.GatewayConfig;
import dev.belfry.cli.config.HostConfig;
import dev.belfry.cli.config.SecretSource;
import dev.belfry.cli.config.WorkerProgram;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import dev.belfry.workers.PoolStatus;
import java.io.PrintWriter;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/** Prints what is running and, for the demonstration, what to try. */
final class Welcome {
  static final String NO_WORKER = "no worker is ready, and the log says why";

  private static final int STANDARD_OUTPUT = 1;

  private final PrintWriter out;

  Welcome(PrintWriter out) {
    this.out = out;
  }

  void say(HostConfig config, HostEntry host, Optional<Token> token, PoolStatus pool) {
    out.println(host + ": " + workers(config, pool));
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
      Map<String, String> tries = tries(config, host, pool);
      out.println();
      out.println("Try this in another terminal: " + String.join(", ", tries.keySet()) + ":");
      out.println();
      tries.values().forEach(out::println);
      out.println();
    }
  }

  /** Describes the configured workers, unless none is ready. */
  private static String workers(HostConfig config, PoolStatus pool) {
    if (pool.workers().stream().noneMatch(PoolStatus.WorkerStatus::isReady)) {
      return NO_WORKER;
    }
    int workers = config.workers().count();
    int spares = config.workers().spares();
    return "%d worker%s and %d spare%s".formatted(workers, s(workers), spares, s(spares));
  }

  /** Returns what to try, with the command for each. */
  private static Map<String, String> tries(HostConfig config, HostEntry host, PoolStatus pool) {
    var tries = new LinkedHashMap<String, String>();
    if (host.gateway() != null) {
      String token = config.gateway().flatMap(GatewayConfig::token).map(Welcome::shown).orElse("");
      tries.put(
          "make a call", "curl" + token + " -d 'hello, worker' " + host.gateway() + "/call/upper");
    }
    pool.workers().stream()
        .filter(PoolStatus.WorkerStatus::isReady)
        .findFirst()
        .ifPresent(it -> tries.put("kill a worker", "kill -KILL " + it.pid()));
    tries.put("shut down", "kill -TERM " + host.pid());
    return tries;
  }

  /** Returns curl's option for a token, which the shell reads from its source. */
  private static String shown(SecretSource token) {
    String read =
        switch (token) {
          case SecretSource.InFile file ->
              "$(cat '" + file.path().toString().replace("'", "'\\''") + "')";
          case SecretSource.InEnvironment environment -> "$" + environment.variable();
        };
    return " --oauth2-bearer \"" + read + "\"";
  }

  private static String methods(HostConfig config) {
    return config.workers().program() instanceof WorkerProgram.Demo
        ? ", METHOD is one of " + String.join(", ", DemoWorker.METHODS)
        : "";
  }

  private static String text(Token token) {
    return token
        .news()
        .filter(_ -> isTerminal())
        .map(it -> it + " (shown only this once; stored in " + token.file() + ")")
        .orElse("in " + token.file());
  }

  /** Whether standard output is a terminal. A log file stays, and others may read it. */
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
