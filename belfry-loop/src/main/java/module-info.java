/** An event loop: one thread that waits for descriptors, timers and posted tasks. */
module dev.belfry.loop {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.linux;

  exports dev.belfry.loop;
}
