package dev.belfry.signals;

/** Exits the JVM for real. */
// r[impl signals.inject.prod-exit]
final class JvmExit implements ExitPort {
  @Override
  public void exit(int code) {
    System.exit(code);
  }

  @Override
  public void halt(int code) {
    Runtime.getRuntime().halt(code);
  }
}
