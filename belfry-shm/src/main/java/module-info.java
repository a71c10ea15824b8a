/** Messages between processes through shared memory. */
module dev.belfry.shm {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.loop;

  exports dev.belfry.shm;
}
