/** The signal standard: what a program does when a signal comes. */
// r[impl signals.deps.no-upward]
// r[impl signals.deps.config-may-import]
module dev.belfry.signals {
  requires static transitive org.jspecify;
  requires jdk.unsupported; // sun.misc.Signal, the JVM's own access to signals
  requires org.snakeyaml.engine;

  exports dev.belfry.signals;

  uses dev.belfry.signals.SignalSourceProvider;
}
