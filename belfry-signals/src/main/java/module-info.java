/** The signal standard: what a program does when a signal arrives. */
// r[impl signals.deps.no-upward]
// r[impl signals.deps.config-may-import]
module dev.belfry.signals {
  requires static transitive org.jspecify;
  requires jdk.unsupported; // for sun.misc.Signal
  requires org.snakeyaml.engine;

  exports dev.belfry.signals;

  uses dev.belfry.signals.SignalSourceProvider;
}
