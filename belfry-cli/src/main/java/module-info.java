/** The belfry command. */
module dev.belfry.cli {
  requires static org.jspecify;
  requires dev.belfry.linux;
  requires dev.belfry.loop;
  requires dev.belfry.shm;
  requires dev.belfry.signals;
  requires dev.belfry.workers;
  requires info.picocli;
  requires java.management;
  requires java.net.http;
  requires jdk.management;
  requires tools.jackson.databind;

  opens dev.belfry.cli to
      info.picocli,
      tools.jackson.databind;
  opens dev.belfry.cli.top to
      info.picocli;
  opens dev.belfry.cli.call to
      info.picocli;
}
