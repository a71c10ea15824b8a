/** Runs work in separate processes, whose crashes lose no call. */
module dev.belfry.workers {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.shm;
  requires HdrHistogram;

  exports dev.belfry.workers;
}
