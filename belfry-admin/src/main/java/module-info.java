/** The admin surface of a service, on its own listener. */
module dev.belfry.admin {
  requires static transitive org.jspecify;
  requires transitive dev.belfry.signals;
  requires dev.belfry.http;
  requires com.github.benmanes.caffeine;
  requires io.github.bucket4j.core;
  requires io.helidon.common.configurable;
  requires io.helidon.common.pki;
  requires io.helidon.common.tls;
  requires transitive micrometer.core;
  requires transitive micrometer.registry.prometheus;
  requires tools.jackson.databind;

  exports dev.belfry.admin;
}
