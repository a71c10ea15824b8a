/** Calls to worker processes over HTTP. */
module dev.belfry.gateway {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.workers;
  requires dev.belfry.http;
  requires tools.jackson.databind;

  exports dev.belfry.gateway;
}
