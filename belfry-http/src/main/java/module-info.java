/** The HTTP server code that the gateway and the admin surface share; not for other modules. */
@SuppressWarnings("module") // those two modules are compiled after this one
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
