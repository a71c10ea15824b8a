package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A host as the first process of a container. There the kernel drops signals that the process does
 * not handle, and its workers' parent is process 1, which elsewhere means that they are orphans.
 */
class ContainerIT {
  private static final List<String> CONTAINER =
      List.of("unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc");

  @TempDir private Path directory = Path.of("");

  @BeforeAll
  static void needsNamespaces() throws Exception {
    var command = new ArrayList<>(CONTAINER);
    command.add("true");
    assumeTrue(
        Program.of(command.toArray(String[]::new)).run().exitCode() == 0,
        "this machine lets nobody make a namespace");
  }

  private HostProgram start(String... arguments) throws Exception {
    var command = new ArrayList<>(CONTAINER);
    command.addAll(List.of("--kill-child", HostProgram.BELFRY.toString(), "run"));
    command.addAll(List.of(arguments));
    return HostProgram.start(
        Program.of(command.toArray(String[]::new))
            .with("XDG_RUNTIME_DIR", directory.toString())
            .in(directory),
        directory);
  }

  /** Sends a signal to the first process of the container. */
  private static void signal(HostProgram host, int signal) {
    int first = (int) host.program().handle().children().findFirst().orElseThrow().pid();
    assertThat(Sys.forAnyThread().kill(first, signal)).isZero();
  }

  private static void assertServes(HostProgram host) throws Exception {
    assertThat(host.call("upper", "in there").get(60, TimeUnit.SECONDS).body())
        .isEqualTo("IN THERE");
  }

  @Test
  void theFirstProcessServesLosesWorkersAndEndsInGoodOrder() throws Exception {
    try (HostProgram host = start(HostProgram.config(directory).toString())) {
      assertThat(host.pid()).isEqualTo(1);
      assertServes(host);
      host.call("crash", "KILL").get(60, TimeUnit.SECONDS);
      assertServes(host);
      signal(host, Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  @Test
  void theFirstProcessSupervises() throws Exception {
    String config = HostProgram.config(directory).toString();
    try (HostProgram host = start("--supervise", config)) {
      int before = host.pid();
      assertThat(before).isNotEqualTo(1);
      signal(host, Signo.HUP);
      host.awaitWelcome();
      assertThat(host.pid()).isNotEqualTo(before);
      assertServes(host);
      signal(host, Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }
}
