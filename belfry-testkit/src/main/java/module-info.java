/** Fault injection and process helpers for tests. */
module dev.belfry.testkit {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.linux;

  exports dev.belfry.testkit;
}
