package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The packaged command, as an operator uses it. */
class SignalsWatchIT {
  private static final Path BELFRY = Installation.PROJECT.resolve("belfry");
  private static final int QUEUED = Signo.RTMIN + 6;

  private static Program watch(String... arguments) throws Exception {
    var command = new String[arguments.length + 2];
    command[0] = "signals";
    command[1] = "watch";
    System.arraycopy(arguments, 0, command, 2, arguments.length);
    return Program.of(BELFRY, command).start();
  }

  private static String sender() throws Exception {
    return "%d %s"
        .formatted(
            ProcessHandle.current().pid(), Files.getAttribute(Path.of("/proc/self"), "unix:uid"));
  }

  @Test
  void everySignalIsALineOfJson() throws Exception {
    String[] us = sender().split(" ", 2);
    try (Program program = watch("--json")) {
      assertThat(program.awaitLine("{"))
          .startsWith("{\"ready\":true,\"pid\":" + program.pid() + ",\"signals\":[\"SIGHUP\",")
          .contains("\"SIGRTMIN+6\"")
          .doesNotContain("SIGINT", "SIGTERM");
      program.signal(Signo.HUP);
      assertThat(program.awaitLine("{"))
          .isEqualTo(
              "{\"signum\":1,\"name\":\"SIGHUP\",\"code\":0,\"pid\":%s,\"uid\":%s,\"value\":0,"
                      .formatted(us[0], us[1])
                  + "\"status\":0,\"errno\":0}");
      for (int value : new int[] {17, -1}) {
        Processes.queue(Sys.forAnyThread(), program.pid(), QUEUED, value);
        assertThat(program.awaitLine("{"))
            .isEqualTo(
                ("{\"signum\":40,\"name\":\"SIGRTMIN+6\",\"code\":-1,\"pid\":%s,\"uid\":%s,"
                        + "\"value\":%d,\"status\":0,\"errno\":0}")
                    .formatted(us[0], us[1], value));
      }
      program.signal(Signo.TERM);
      assertThat(program.end()).isEqualTo(new Program.Result(143, "", ""));
    }
  }

  @Test
  void forPeopleEverySignalIsALineOfText() throws Exception {
    String[] us = sender().split(" ", 2);
    try (Program program = watch("usr1", "40")) {
      assertThat(program.awaitLine("ready"))
          .isEqualTo("ready: process " + program.pid() + " watches SIGUSR1 SIGRTMIN+6");
      program.signal(Signo.USR1);
      assertThat(program.awaitLine("SIG"))
          .isEqualTo(
              "SIGUSR1     signum 10  code 0 (kill)  pid %s  uid %s  value 0  status 0  errno 0"
                  .formatted(us[0], us[1]));
      program.signal(Signo.INT);
      assertThat(program.end()).isEqualTo(new Program.Result(130, "", ""));
    }
  }

  @Test
  void anInterruptThatIsWatchedEndsTheWatchTheSecondTime() throws Exception {
    try (Program program = watch("INT", "TERM")) {
      program.awaitLine("ready");
      program.signal(Signo.TERM);
      program.awaitLine("SIGTERM");
      program.signal(Signo.INT);
      program.awaitLine("SIGINT");
      program.signal(Signo.INT);
      Program.Result end = program.end();

      assertThat(end.exitCode()).isEqualTo(130);
      assertThat(end.out()).startsWith("SIGINT ");
      assertThat(end.err()).contains("INT again within 2 s");
    }
  }

  @Test
  void anInterruptThatComesLateCountsAsAFirstAgain() throws Exception {
    try (Program program = watch("INT")) {
      program.awaitLine("ready");
      program.signal(Signo.INT);
      program.awaitLine("SIGINT");
      Thread.sleep(2_100);
      program.signal(Signo.INT);
      program.awaitLine("SIGINT");
      program.signal(Signo.INT);
      Program.Result end = program.end();

      assertThat(end.exitCode()).isEqualTo(130);
      assertThat(end.err().lines()).as("a hint for each first press").hasSize(2);
    }
  }

  @Test
  void theWatchEndsWhenNobodyReadsIt() throws Exception {
    try (Program program = watch("USR1")) {
      program.awaitLine("ready");
      program.closeOut();
      program.signal(Signo.USR1);
      assertThat(program.exitCode()).isEqualTo(128 + Signo.PIPE);
    }
  }

  @Test
  void aSignalThatIsNotBlockedIsRefused() throws Exception {
    try (Program program = watch("WINCH")) {
      Program.Result end = program.end();
      assertThat(end.exitCode()).isEqualTo(1);
      assertThat(end.out()).isEmpty();
      assertThat(end.err()).startsWith("belfry signals watch: {SIGWINCH} cannot be attached");
    }
  }
}
