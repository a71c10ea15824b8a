/** The belfry command. */
module dev.belfry.cli {
  requires static org.jspecify;
  requires ch.qos.logback.classic;
  requires ch.qos.logback.core;
  requires com.networknt.schema;
  requires dev.belfry.admin;
  requires dev.belfry.gateway;
  requires dev.belfry.linux;
  requires dev.belfry.loop;
  requires dev.belfry.shm;
  requires dev.belfry.signals;
  requires dev.belfry.workers;
  requires info.picocli;
  requires java.management;
  requires java.net.http;
  requires jdk.management;
  requires micrometer.core;
  requires micrometer.registry.prometheus;
  requires org.slf4j;
  requires org.snakeyaml.engine;
  requires tools.jackson.databind;

  opens dev.belfry.cli to
      info.picocli,
      tools.jackson.databind;
  opens dev.belfry.cli.call to
      info.picocli;
  opens dev.belfry.cli.config to
      tools.jackson.databind;
  opens dev.belfry.cli.run to
      info.picocli;
  opens dev.belfry.cli.shm to
      info.picocli,
      tools.jackson.databind;
  opens dev.belfry.cli.signals to
      info.picocli,
      tools.jackson.databind;
  opens dev.belfry.cli.top to
      info.picocli;

  provides ch.qos.logback.classic.spi.Configurator with
      dev.belfry.cli.log.LogbackSetup;
  provides java.lang.System.LoggerFinder with
      dev.belfry.cli.log.ProgramLoggers;
}
