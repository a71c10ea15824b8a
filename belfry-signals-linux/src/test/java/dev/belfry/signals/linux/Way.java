package dev.belfry.signals.linux;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** How a signal reaches the program. */
enum Way {
  /** Without the operating system. */
  INJECTED,
  /** From the JVM's own dispatcher, in a JVM started normally. */
  DISPATCHER,
  /** From a signalfd, in a JVM that was started with the signals blocked. */
  SIGNALFD;

  /** Keeps children from inheriting ignored signals from the process that runs the tests. */
  private static final String DEFAULTS = "--default-signal=HUP,INT,QUIT,PIPE,ALRM,USR1,USR2,TERM";

  /** Starts the program; returns when it is ready. */
  Stage start(String scenario, String... arguments) throws Exception {
    if (this == INJECTED) {
      return new InjectedStage(scenario, List.of(arguments));
    }
    String[] all = Stream.concat(Stream.of(scenario), Stream.of(arguments)).toArray(String[]::new);
    return ProcessStage.of(process(SampleService.class, all));
  }

  /** Starts another program, in a JVM of its own. */
  TestProcess process(Class<?> main, String... arguments) throws IOException {
    return TestProcess.start(command(main, arguments));
  }

  /** The command that starts another program. */
  List<String> command(Class<?> main, String... arguments) {
    var command = new ArrayList<>(List.of("env", DEFAULTS));
    command.addAll(
        switch (this) {
          case INJECTED -> throw new IllegalStateException("it has no process");
          case DISPATCHER -> TestProcess.javaCommand(main, arguments);
          case SIGNALFD -> TestProcess.javaWithSignalsCommand(main, arguments);
        });
    return command;
  }

  /** Whether QUIT reaches the program; the dispatcher keeps it for the JVM. */
  boolean hasQuit() {
    return this != DISPATCHER;
  }
}
