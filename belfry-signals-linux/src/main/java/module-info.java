/** Signals from a signalfd, as a source for the signal standard. */
module dev.belfry.signals.linux {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.signals;
  requires dev.belfry.loop;

  exports dev.belfry.signals.linux;

  provides dev.belfry.signals.SignalSourceProvider with
      dev.belfry.signals.linux.SignalFdProvider;
}
