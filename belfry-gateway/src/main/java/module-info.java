/** Calls to worker processes over HTTP. */
module dev.belfry.gateway {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.workers;
  requires io.helidon.common.buffers;
  requires io.helidon.common.socket;
  requires io.helidon.http;
  requires io.helidon.webserver;
  requires jdk.management;
  requires tools.jackson.databind;

  exports dev.belfry.gateway;
}
