/** Fault injection and process helpers for tests. */
module dev.belfry.testkit {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.linux;
  requires transitive org.junit.jupiter.api;

  exports dev.belfry.testkit;
}
