package dev.belfry.examples;

import dev.belfry.signals.Platform;
import dev.belfry.signals.Signals;

/** A tool that uses only the catalog: no handler is installed and no thread started. */
// r[impl signals.scope.adoption]
final class ExitCodes {
  private ExitCodes() {}

  public static void main(String[] args) {
    // @start region="exit-codes"
    for (String text : args) {
      String code =
          Signals.resolve(text)
              .map(signal -> signal + " ends a process with " + signal.exitCode(Platform.current()))
              .orElse(text + " is not a signal");
      System.out.println(code);
    }
    // @end
    System.out.println("threads of the library: " + threads());
  }

  private static long threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("belfry"))
        .count();
  }
}
