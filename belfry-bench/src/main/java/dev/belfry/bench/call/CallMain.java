package dev.belfry.bench.call;

import dev.belfry.bench.harness.ContenderMain;

/** The calling process of a contender; it starts the process that answers. */
public final class CallMain {
  private CallMain() {}

  public static void main(String[] arguments) throws Exception {
    try (Calling calling = CallContender.of(arguments[0]).open()) {
      ContenderMain.serve(question -> calling.measure(CallLoad.parse(question)).line());
    }
    System.exit(0); // whatever other threads of the contender still do
  }
}
