/** What the gateway and the admin surface both need of their HTTP server; for nobody else. */
@SuppressWarnings("module") // the two do not exist yet when this is compiled
module dev.belfry.http {
  requires static transitive org.jspecify;
  requires transitive io.helidon.common.buffers;
  requires transitive io.helidon.common.socket;
  requires transitive io.helidon.http;
  requires transitive io.helidon.webserver;
  requires jdk.management;

  exports dev.belfry.http to
      dev.belfry.admin,
      dev.belfry.gateway;
}
