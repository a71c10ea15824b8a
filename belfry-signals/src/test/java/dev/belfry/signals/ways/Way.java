package dev.belfry.signals.ways;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** How a signal reaches the program. */
enum Way {
  /** Without the operating system. */
  INJECTED,
  /** From the JVM's own dispatcher, in a JVM as anybody starts it. */
  DISPATCHER;

  /** What a child must not inherit from whoever runs the tests. */
  private static final String DEFAULTS = "--default-signal=HUP,INT,QUIT,PIPE,ALRM,USR1,USR2,TERM";

  /** Starts the program; returns when it is ready. */
  Stage start(String scenario, String... arguments) throws Exception {
    if (this == INJECTED) {
      return new InjectedStage(scenario, List.of(arguments));
    }
    TestProcess process = TestProcess.start(command(scenario, arguments));
    process.line("ready");
    return new ProcessStage(process);
  }

  /** Whether QUIT reaches the program; the dispatcher keeps it for the JVM. */
  boolean hasQuit() {
    return this != DISPATCHER;
  }

  private List<String> command(String scenario, String... arguments) throws IOException {
    var all = new ArrayList<String>(List.of("env", DEFAULTS));
    var programArguments = new ArrayList<String>(List.of(scenario));
    programArguments.addAll(List.of(arguments));
    all.addAll(
        TestProcess.javaCommand(SampleService.class, programArguments.toArray(String[]::new)));
    return all;
  }
}
