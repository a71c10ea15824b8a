package dev.belfry.cli.run;

import dev.belfry.cli.config.AdminConfig;
import dev.belfry.cli.config.GatewayConfig;
import dev.belfry.cli.config.HostConfig;
import dev.belfry.cli.config.SecretSource;
import dev.belfry.cli.config.WorkerProgram;
import dev.belfry.cli.config.WorkersConfig;
import dev.belfry.cli.config.WorkersConfig.Limits;
import dev.belfry.workers.JavaWorker;
import dev.belfry.workers.PoolListener;
import dev.belfry.workers.PoolOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** Turns a configuration into the options of a pool. */
final class PoolPlan {
  private static final String[] DEMO_FLAGS = {
    "-Xmx64m", "-Xshare:auto", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"
  };

  private PoolPlan() {}

  static PoolOptions of(HostConfig host, PoolListener listener) {
    WorkersConfig config = host.workers();
    Limits limits = config.limits();
    PoolOptions options =
        PoolOptions.of(limited(command(config.program()), limits))
            .name(config.name())
            .workers(config.count())
            .spares(config.spares())
            .callsPerWorker(limits.callsPerWorker())
            .attempts(limits.attempts())
            .readyLimit(limits.ready())
            .stuckLimit(limits.stuck())
            .heartbeat(limits.heartbeat())
            .placement(config.placement())
            .waiting(config.waiting())
            .crashLimit(config.restart().crashLimit())
            .restartDelay(config.restart().firstDelay(), config.restart().longestDelay())
            .listener(listener);
    config.directory().ifPresent(options::directory);
    tokens(host).forEach(options::withoutEnvironment);
    options.withoutEnvironment(Systemd.VARIABLE); // only the host reports to systemd
    config.environment().forEach(options::environment);
    config.recycle().calls().ifPresent(options::recycleAfterCalls);
    config.recycle().age().ifPresent(options::recycleAfter);
    return options;
  }

  /** Environment variables that hold this host's tokens, which workers must not see. */
  private static Stream<String> tokens(HostConfig host) {
    Stream<SecretSource> named =
        Stream.of(
                host.gateway().flatMap(GatewayConfig::token),
                host.admin().flatMap(AdminConfig::token))
            .flatMap(Optional::stream);
    return Stream.concat(
        Stream.of(AdminClient.VARIABLE),
        named
            .filter(SecretSource.InEnvironment.class::isInstance)
            .map(it -> ((SecretSource.InEnvironment) it).variable()));
  }

  private static List<String> command(WorkerProgram program) {
    return switch (program) {
      case WorkerProgram.Command(List<String> words) -> words;
      case WorkerProgram.Java(
              String main,
              List<String> classPath,
              List<String> flags,
              List<String> arguments) ->
          JavaWorker.of(main)
              .withClassPath(classPath)
              .withFlags(flags)
              .withArguments(arguments)
              .command();
      case WorkerProgram.Demo _ -> JavaWorker.of(DemoWorker.class, DEMO_FLAGS).command();
    };
  }

  /** Wraps a command in a shell that sets the limits and then execs the program. */
  private static List<String> limited(List<String> words, Limits limits) {
    var script = new ArrayList<String>();
    limits.openFiles().ifPresent(count -> script.add("ulimit -n " + count));
    limits.memoryMib().ifPresent(mib -> script.add("ulimit -d " + mib * 1024));
    if (script.isEmpty()) {
      return words;
    }
    script.add("exec \"$@\"");
    var command = new ArrayList<>(List.of("/bin/sh", "-c", String.join(" && ", script), "worker"));
    command.addAll(words);
    return command;
  }
}
