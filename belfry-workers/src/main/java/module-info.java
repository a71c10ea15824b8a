/** Work done in processes of their own, which may crash without losing a call. */
module dev.belfry.workers {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.shm;
  requires HdrHistogram;

  exports dev.belfry.workers;
}
