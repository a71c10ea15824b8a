package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.belfry.linux.Signo;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How a host starts, or why it does not. */
class RunStartIT {
  @TempDir private Path directory = Path.of("");

  /** Includes a relaunch: java -jar brings itself into the right state. */
  @Test
  void itRunsTheSameWithoutTheLauncher() throws Exception {
    Path config = HostProgram.config(directory);
    Path jar = Installation.PROJECT.resolve("belfry-cli/target/belfry.jar");
    Program.Start start =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin/java"),
                "-jar",
                jar.toString(),
                "run",
                config.toString())
            .with("XDG_RUNTIME_DIR", directory.toString());
    try (HostProgram host = HostProgram.start(start, directory)) {
      assertThat(host.call("upper", "same").get(60, TimeUnit.SECONDS).body()).isEqualTo("SAME");
      host.program().signal(Signo.TERM);
      assertThat(host.program().end().exitCode()).isEqualTo(143);
    }
  }

  /** Regression: workers were started first, so a second start took long to fail. */
  @ParameterizedTest
  @ValueSource(strings = {"gateway", "admin"})
  void aPortThatIsTakenIsAClearErrorBeforeAnythingIsStarted(String section) throws Exception {
    Path program = Files.writeString(directory.resolve("worker"), "#!/bin/sh\n> started\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
    try (var taken = new ServerSocket()) {
      taken.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
      String address = "127.0.0.1:" + taken.getLocalPort();
      Path config =
          Files.writeString(
              directory.resolve("belfry.yaml"),
              "workers: {command: [./worker]}\n%s: {listen: '%s'}\n".formatted(section, address));
      Program.Result result = HostProgram.of(directory, config.toString()).run();
      assertThat(result.exitCode()).isEqualTo(1);
      assertThat(result.out()).isEmpty();
      assertThat(result.err().lines().filter(line -> line.startsWith("belfry run:")))
          .singleElement()
          .asString()
          .contains("cannot listen at " + address, "is another host running there?");
      assertThat(result.err()).doesNotContain("\tat ");
    }
    assertThat(directory.resolve("started")).doesNotExist();
  }

  /**
   * Regression: validate did not find it, so a host that was told to reload ended and could not
   * restart. Later it was found only with English messages of the C library.
   */
  @ParameterizedTest
  @ValueSource(strings = {"C.UTF-8", "de_DE.UTF-8"})
  void validateFindsAPortThatTheHostMayNotHave(String locale) throws Exception {
    Path first = Path.of("/proc/sys/net/ipv4/ip_unprivileged_port_start");
    assumeTrue(Files.readAllLines(first).equals(List.of("1024")), "ports are free for all here");
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            "workers: {builtin: demo}\ngateway: {listen: '127.0.0.1:81'}\n");
    String notEvenRoot =
        "[ $(id -u) != 0 ] || set -- setpriv --inh-caps=-net_bind_service"
            + " --bounding-set=-net_bind_service \"$@\"; exec \"$@\"";
    Program.Result result =
        Program.of(
                "sh",
                "-c",
                notEvenRoot,
                "sh",
                HostProgram.BELFRY.toString(),
                "validate",
                config.toString())
            .with("LOCPATH", locales(locale).toString())
            .with("LC_ALL", locale)
            .run();
    assertThat(result.out()).contains(":2: gateway.listen: this process may not have port 81");
    assertThat(result.exitCode()).isEqualTo(1);
  }

  /** Creates a directory with a locale, which need not be installed; its translations must be. */
  private Path locales(String name) throws Exception {
    Path locales = Files.createDirectory(directory.resolve("locales"));
    String language = name.replaceFirst("[.].*", "");
    if (!language.equals("C")) { // C always exists
      Path texts = Path.of("/usr/share/locale", name.substring(0, 2), "LC_MESSAGES/libc.mo");
      String made = locales.resolve(name).toString();
      assumeTrue(
          Files.exists(texts)
              && Program.of("localedef", "-i", language, "-f", "UTF-8", made).run().exitCode() == 0,
          "this machine has no " + name);
    }
    return locales;
  }

  @Test
  void aConfigurationThatIsNotValidIsRefusedWithAllThatIsWrong() throws Exception {
    Path config = Files.writeString(directory.resolve("belfry.yaml"), "workers: {}\nx: 1\n");
    Program.Result result = HostProgram.of(directory, config.toString()).run();
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.err()).contains("line 1: workers: needs one of", "line 2: x: there is no");

    Program.Result missing = HostProgram.of(directory, "nowhere.yaml").run();
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).isEqualTo("belfry run: there is no file nowhere.yaml\n");
  }

  /** Regression: after an Error, as for lack of memory, the host ran on and did nothing. */
  @Test
  void aStartThatFailsByAnErrorEndsToo() throws Exception {
    String withoutServer =
        Stream.of(System.getProperty("java.class.path").split(":"))
            .filter(entry -> !entry.contains("helidon-webserver"))
            .collect(Collectors.joining(":"));
    Program.Start start =
        Program.of(
                Path.of(System.getProperty("java.home"), "bin/java"),
                "--enable-native-access=ALL-UNNAMED",
                "-cp",
                withoutServer,
                "dev.belfry.cli.Main",
                "run",
                HostProgram.config(directory).toString())
            .with("XDG_RUNTIME_DIR", directory.toString());
    Program.Result result = start.run();
    assertThat(result.err()).contains("java.lang.NoClassDefFoundError: io/helidon/");
    assertThat(result.exitCode()).isEqualTo(1);
  }
}
