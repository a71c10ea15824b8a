/** Small programs that the documentation shows. */
module dev.belfry.examples {
  requires static org.jspecify;
  requires dev.belfry.admin;
  requires dev.belfry.gateway;
  requires dev.belfry.linux;
  requires dev.belfry.loop;
  requires dev.belfry.shm;
  requires dev.belfry.signals;
  requires dev.belfry.workers;
  requires java.net.http;
  requires micrometer.registry.prometheus;
}
