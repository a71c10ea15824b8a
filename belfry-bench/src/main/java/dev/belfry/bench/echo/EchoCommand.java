package dev.belfry.bench.echo;

import static dev.belfry.bench.echo.EchoContender.BELFRY_CALLBACK;
import static dev.belfry.bench.echo.EchoContender.BELFRY_COROUTINE;
import static dev.belfry.bench.echo.EchoContender.BELFRY_IO_URING;
import static dev.belfry.bench.echo.EchoContender.BELFRY_IO_URING_COROUTINE;
import static dev.belfry.bench.echo.EchoContender.C;
import static dev.belfry.bench.echo.EchoContender.NETTY_EPOLL;
import static dev.belfry.bench.echo.EchoContender.NETTY_IO_URING;
import static dev.belfry.bench.harness.Goal.Bound.AT_LEAST;
import static dev.belfry.bench.harness.Goal.Bound.AT_MOST;

import dev.belfry.bench.harness.Benchmark;
import dev.belfry.bench.harness.ComparisonTable;
import dev.belfry.bench.harness.ContenderProcesses;
import dev.belfry.bench.harness.Goal;
import dev.belfry.bench.harness.Measurements;
import dev.belfry.bench.harness.Metric;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Progress;
import dev.belfry.bench.harness.Rounds;
import dev.belfry.bench.harness.RunOptions;
import dev.belfry.bench.harness.Workshop;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Command;

/** Measures echo servers under a closed-loop load. */
@Command(
    name = "echo",
    description = {
      "TCP echo of 64-byte messages over 1, 16 and 128 connections.",
      "Every server is a warm process of its own on one loop thread; the load is a C program."
    },
    mixinStandardHelpOptions = true)
public final class EchoCommand extends Benchmark {
  private static final int MESSAGE_BYTES = 64;
  private static final int MANY_CONNECTIONS = 128;
  private static final List<Integer> CONNECTIONS = List.of(1, 16, MANY_CONNECTIONS);
  private static final int GOALS_FROM_CONNECTIONS = 16;

  private static final ComparisonTable TABLE =
      new ComparisonTable(
          List.of(
              new Metric(EchoLoad.RATE, "messages/s", 1, 0),
              new Metric(EchoLoad.SERVER_CPU, "CPU us/message", 1000, 2)),
          List.of(NETTY_EPOLL.label, C.label));

  private static final List<Goal> GOALS =
      List.of(
          rateGoal(BELFRY_CALLBACK, NETTY_EPOLL, 1.10),
          rateGoal(BELFRY_CALLBACK, C, 0.95),
          cpuGoal(BELFRY_CALLBACK, NETTY_EPOLL, 0.90),
          cpuGoal(BELFRY_CALLBACK, C, 1.08),
          rateGoal(BELFRY_COROUTINE, BELFRY_CALLBACK, 0.80),
          cpuGoal(BELFRY_COROUTINE, BELFRY_CALLBACK, 1.20),
          rateGoal(BELFRY_IO_URING, NETTY_IO_URING, 1.10),
          cpuGoal(BELFRY_IO_URING, NETTY_IO_URING, 0.90),
          rateGoal(BELFRY_IO_URING_COROUTINE, BELFRY_IO_URING, 0.80),
          cpuGoal(BELFRY_IO_URING_COROUTINE, BELFRY_IO_URING, 1.20));

  /** Batched requests pay off with many connections. */
  private static final List<Goal> GOALS_OF_MANY =
      List.of(cpuGoal(BELFRY_IO_URING, BELFRY_CALLBACK, 0.75));

  private static Goal rateGoal(EchoContender who, EchoContender against, double limit) {
    return new Goal(who.label, against.label, EchoLoad.RATE, "messages/s", AT_LEAST, limit);
  }

  private static Goal cpuGoal(EchoContender who, EchoContender against, double limit) {
    return new Goal(who.label, against.label, EchoLoad.SERVER_CPU, "CPU/message", AT_MOST, limit);
  }

  @Override
  protected Measurements measure(RunOptions options) throws Exception {
    List<String> names = options.select(EchoContender.labels());
    var measurements = new Measurements("echo");
    try (Workshop workshop = Workshop.open();
        var processes = new ContenderProcesses()) {
      Path loadProgram = workshop.compileC(EchoCommand.class, "echo_load.c");
      Path serverProgram = workshop.compileC(EchoCommand.class, "echo_server.c");
      for (String name : names) {
        List<String> command = EchoContender.of(name).command(serverProgram);
        processes.start(name, command, pinning(options, Pinning.LAST));
      }
      var servers = new ArrayList<EchoServer>();
      for (String name : names) {
        int port = Integer.parseInt(processes.get(name).awaitReady());
        servers.add(new EchoServer(EchoContender.of(name), processes.get(name), port));
      }
      var load = new EchoLoad(loadProgram, MESSAGE_BYTES, pinning(options, Pinning.FIRST));
      run(options, load, servers, measurements);
    }
    report(names, measurements);
    return measurements;
  }

  private static void run(
      RunOptions options, EchoLoad load, List<EchoServer> servers, Measurements measurements)
      throws IOException {
    Duration measured = options.measuredMillis(100, 700, 1700);
    Duration settle = measured.dividedBy(7);
    var rounds = new Rounds<>(servers, EchoServer::label, CONNECTIONS, EchoCommand::params);
    try (var progress = new Progress(servers.size() + rounds.steps(options.rounds()))) {
      warmUp(options, load, servers, progress);
      rounds.run(
          options.rounds(),
          measurements,
          progress,
          (server, connections) -> load.run(server, connections, settle, measured));
    }
  }

  /** Lets the JVMs' compilers finish, at every number of connections. */
  private static void warmUp(
      RunOptions options, EchoLoad load, List<EchoServer> servers, Progress progress)
      throws IOException {
    Duration each =
        options
            .effort()
            .choose(Duration.ofMillis(100), Duration.ofMillis(1200), Duration.ofSeconds(4));
    for (EchoServer server : servers) {
      progress.step("warming up " + server.label());
      if (server.contender().warmsUp()) {
        for (int connections : CONNECTIONS) {
          load.run(server, connections, Duration.ZERO, each);
        }
      }
    }
  }

  private static Map<String, Object> params(int connections) {
    var params = new LinkedHashMap<String, Object>();
    params.put("connections", connections);
    params.put("messageBytes", MESSAGE_BYTES);
    return params;
  }

  private void report(List<String> names, Measurements measurements) {
    for (int connections : CONNECTIONS) {
      print(TABLE.lines(measurements, names, params(connections)));
      if (connections >= GOALS_FROM_CONNECTIONS) {
        printVerdicts(GOALS, measurements, params(connections));
      }
      if (connections == MANY_CONNECTIONS) {
        printVerdicts(GOALS_OF_MANY, measurements, params(connections));
      }
    }
    printNotes("One loop thread each; CPU is user and system time of the server's whole process.");
  }
}
