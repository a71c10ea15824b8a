package dev.belfry.cli.config;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Configurations that are refused, and how their faults are reported. */
class ConfigFaultsTest {
  @TempDir private Path directory = Path.of("");

  /** Regression: the size was taken to be zero, as reported, and memory filled with the content. */
  @Test
  @Timeout(60)
  void aFileThatNeverEndsIsNoConfiguration() {
    assertThat(catchThrowableOfType(IOException.class, () -> ConfigFile.load(Path.of("/dev/zero"))))
        .hasMessage("/dev/zero has more than 1 MiB, too much for a configuration");
  }

  /** Regression: the check waited forever, or consumed what the host was to read. */
  @Test
  @Timeout(60)
  void whatAConfigurationNamesIsNoPipe() throws Exception {
    for (String name : List.of("token", "cert.pem", "key.pem", "clients.pem")) {
      String pipe = directory.resolve(name).toString();
      assertThat(TestProcess.start("mkfifo", pipe).exitCode()).isZero();
    }
    String text =
        """
        workers: {builtin: demo}
        gateway: {token_file: token}
        admin:
          basic: {user: me, password_file: token}
          tls: {certificate: cert.pem, key: key.pem, client_authorities: clients.pem}
        """;
    assertThat(faults(text))
        .extracting(ConfigFault::field)
        .contains(
            "gateway.token_file",
            "admin.basic.password_file",
            "admin.tls.certificate",
            "admin.tls.key",
            "admin.tls.client_authorities");
  }

  /** Regression: characters were silently replaced, and a worker got a different text. */
  @Test
  void aFileThatIsNotUtf8IsRefusedWithTheLine() throws Exception {
    String text = "workers:\n  builtin: demo\n  environment: {NAME: M\u00fcller}\n";
    assertThat(load(text).workers().environment()).containsEntry("NAME", "M\u00fcller");
    Path file = Files.writeString(directory.resolve("latin1.yaml"), text, ISO_8859_1);
    assertThat(catchThrowableOfType(ConfigException.class, () -> ConfigFile.load(file)).faults())
        .containsExactly(new ConfigFault(3, "", "this is not UTF-8 text"));
  }

  /** A faulty configuration, and the line, the field and part of the reason of the fault. */
  static Stream<Arguments> wrong() {
    return Stream.of(
        Arguments.of("", 1, "", "is empty"),
        Arguments.of("workers: {\n  count: ]", 2, "", "not YAML"),
        Arguments.of("name: shop", 1, "", "lacks the field workers"),
        Arguments.of("workers: {builtin: demo}\nworkers: {}", 2, "workers", "twice"),
        Arguments.of("workers: {builtin: demo}\ngatway: {}", 2, "gatway", "no such field"),
        Arguments.of(
            demo("limits: {memory: 1}"),
            3,
            "workers.limits.memory",
            "there are calls_per_worker, attempts, ready, stuck, heartbeat, open_files, memory_mib"),
        Arguments.of(
            "workers: {builtin: demo}\ngateway:\nadmin: {}",
            2,
            "gateway",
            "has no value: it must be fields with values, or {} for none"),
        Arguments.of("workers: {builtin: demo}\nname: a b", 2, "name", "letters, digits, dots"),
        // Regression: the message asked only for letters, digits and dashes, which it had.
        Arguments.of(
            "workers: {builtin: demo}\nname: " + "long-".repeat(13), 2, "name", "at most 64"),
        Arguments.of("workers:\n  builtin: demo\n  name: 2nd", 3, "workers.name", "a letter first"),
        // A signal to this name would go to the process with that number.
        Arguments.of("workers: {builtin: demo}\nname: '7071'", 2, "name", "not of digits alone"),
        Arguments.of("workers:\n  count: 1", 1, "workers", "one of command, java and builtin"),
        Arguments.of(
            "workers:\n  builtin: demo\n  command: [x]", 1, "workers", "one of command, java"),
        Arguments.of("workers:\n  builtin: test", 2, "workers.builtin", "one of demo"),
        Arguments.of("workers:\n  command: []", 2, "workers.command", "must not be empty"),
        Arguments.of("workers:\n  command: [ls,\n    7]", 3, "workers.command[1]", "a text"),
        Arguments.of("workers:\n  command: [./no]", 2, "workers.command[0]", "no program"),
        Arguments.of("workers:\n  java: {}", 2, "workers.java", "lacks the field main"),
        Arguments.of("workers:\n  java: {main: a-b}", 2, "workers.java.main", "name of a class"),
        Arguments.of(
            "workers:\n  java:\n    main: A\n    class_path: [x.jar]",
            4,
            "workers.java.class_path[0]",
            "no file"),
        Arguments.of(demo("count: 0"), 3, "workers.count", "at least 1"),
        Arguments.of(demo("count: 1000"), 3, "workers.count", "at most 200"),
        // A leading zero does not mean octal.
        Arguments.of(demo("count: !!int 01000"), 3, "workers.count", "1000 must be at most 200"),
        Arguments.of(demo("count: two"), 3, "workers.count", "a whole number"),
        Arguments.of(demo("count: 1.5"), 3, "workers.count", "a whole number"),
        Arguments.of(demo("spares: -1"), 3, "workers.spares", "at least 0"),
        Arguments.of(demo("directory: nowhere"), 3, "workers.directory", "no directory"),
        Arguments.of(
            demo("environment: {A-B: x}"), 3, "workers.environment.A-B", "not a valid name"),
        Arguments.of(demo("environment: {A: 1}"), 3, "workers.environment.A", "quotes"),
        // Regression: they were valid, and after a reload no worker could be started.
        Arguments.of(demo("environment: {A: \"x\\0\"}"), 3, "workers.environment.A", "NUL"),
        Arguments.of("workers:\n  command: [ls, \"\\0\"]", 2, "workers.command[1]", "NUL"),
        Arguments.of(
            "workers:\n  java: {main: A, options: [\"\\0\"]}", 2, "workers.java.options[0]", "NUL"),
        Arguments.of(
            "workers:\n  java: {main: A, arguments: [\"\\0\"]}",
            2,
            "workers.java.arguments[0]",
            "NUL"),
        Arguments.of(demo("limits: {ready: 3}"), 3, "workers.limits.ready", "such as 500ms"),
        Arguments.of(demo("limits:\n    stuck: 0s"), 4, "workers.limits.stuck", "500ms"),
        // Regression: from 2^31 on, the default was silently used instead.
        Arguments.of(
            demo("restart: {crash_limit: 3000000000}"),
            3,
            "workers.restart.crash_limit",
            "at most 2147483647"),
        Arguments.of(
            more("admin: {signal_rate_limit: 3000000000}"),
            2,
            "admin.signal_rate_limit",
            "at most 2147483647"),
        // With its number, the name must fit in the 32 bytes that counters have for it.
        Arguments.of(demo("name: a123456789-123456789-1234"), 3, "workers.name", "at most 24"),
        Arguments.of(demo("placement: tight"), 3, "workers.placement", "padded, v1"),
        Arguments.of(demo("waiting: busy"), 3, "workers.waiting", "adaptive, spin"),
        Arguments.of(
            demo("restart: {first_delay: 2s, longest_delay: 1s}"),
            3,
            "workers.restart.longest_delay",
            "shorter than first_delay"),
        Arguments.of(demo("recycle: {calls: 0}"), 3, "workers.recycle.calls", "at least 1"),
        Arguments.of(more("gateway: {listen: 7070}"), 2, "gateway.listen", "127.0.0.1:7070"),
        Arguments.of(more("gateway: {listen: '0.0.0.0:1'}"), 2, "gateway.listen", "token_file"),
        Arguments.of(more("gateway: {listen: 'a.invalid:1'}"), 2, "gateway.listen", "no address"),
        Arguments.of(more("gateway: {token_file: no}"), 2, "gateway.token_file", "read"),
        Arguments.of(more("gateway: {token_env: NOPE_}"), 2, "gateway.token_env", "NOPE_"),
        Arguments.of(more("gateway: {token_env: A, token_file: b}"), 2, "gateway", "leave one out"),
        Arguments.of(more("gateway: {max_bytes: 99999999}"), 2, "gateway.max_bytes", "at most"),
        Arguments.of(
            more("gateway: {}\nadmin: {listen: '127.0.0.1:7070'}"), 3, "admin.listen", "already"),
        Arguments.of(more("admin: {listen: '0.0.0.0:1'}"), 2, "admin.listen", "tls"),
        Arguments.of(
            more("admin: {signal_rate_limit: 0}"), 2, "admin.signal_rate_limit", "at least 1"),
        Arguments.of(
            more("admin:\n  signal_endpoint_auth_method: none"),
            3,
            "admin.signal_endpoint_auth_method",
            "mtls, bearer, basic"),
        Arguments.of(
            more("admin:\n  signal_endpoint_auth_method: basic"),
            3,
            "admin.signal_endpoint_auth_method",
            "the field basic"),
        Arguments.of(
            more("admin:\n  signal_endpoint_auth_method: mtls"),
            3,
            "admin.signal_endpoint_auth_method",
            "client_authorities"),
        Arguments.of(
            more("admin: {tls: {certificate: no, key: no}}"), 2, "admin.tls.certificate", "read"),
        // With these a host cannot start, so it must not exit to reload them.
        Arguments.of(
            more("admin:\n  basic: {user: ann, password_file: /proc/sys/kernel/ostype}"),
            3,
            "admin.basic",
            "signal_endpoint_auth_method: basic"),
        Arguments.of(
            more(
                """
                admin:
                  listen: '192.0.2.1:1'
                  signal_endpoint_auth_method: basic
                  basic: {user: ann, password_file: /proc/sys/kernel/ostype}
                  tls: {certificate: belfry.yaml, key: belfry.yaml}
                """),
            3,
            "admin.listen",
            "internal networks"),
        Arguments.of(
            more("admin: {tls: {certificate: belfry.yaml, key: belfry.yaml}}"),
            2,
            "admin.tls",
            "PEM"),
        Arguments.of(
            more("admin: {unix_socket: /usr/admin.sock}"),
            2,
            "admin.unix_socket",
            "a directory of its own"),
        Arguments.of(
            more("admin: {unix_socket: belfry.yaml}"), 2, "admin.unix_socket", "no socket"),
        Arguments.of(
            more("admin: {unix_socket: belfry.yaml/a}"), 2, "admin.unix_socket", "not a directory"),
        // With these no client would be let in, or others than the file says.
        Arguments.of(
            more("admin:\n  basic: {user: ' ', password_file: belfry.yaml}"),
            3,
            "admin.basic.user",
            "not blank"),
        Arguments.of(
            more("admin:\n  basic: {user: 'ann:lee', password_file: belfry.yaml}"),
            3,
            "admin.basic.user",
            "no colon"),
        Arguments.of(
            more(clients("client_authorities: a, allowed_clients: [SHA256:0a]")),
            3,
            "admin.tls.allowed_clients[0]",
            "64 hexadecimal digits"),
        Arguments.of(
            more(clients("client_authorities: a, allowed_clients: [" + "0a".repeat(20) + "]")),
            3,
            "admin.tls.allowed_clients[0]",
            "64 hexadecimal digits"),
        Arguments.of(
            more(clients("allowed_clients: ['0A" + ":0a".repeat(31) + "']")),
            3,
            "admin.tls.allowed_clients",
            "client_authorities"),
        Arguments.of(
            more("admin: {unix_socket: %s}".formatted("long/".repeat(30))),
            2,
            "admin.unix_socket",
            "longer than 1"),
        Arguments.of(
            more("admin: {unix_socket: belfry.yaml/a/b}"),
            2,
            "admin.unix_socket",
            "not a directory"),
        Arguments.of(
            more(
                """
                gateway: {listen: '0.0.0.0:7070', token_file: belfry.yaml}
                admin: {listen: '127.0.0.1:7070'}
                """),
            3,
            "admin.listen",
            "already"),
        Arguments.of(
            more("gateway: {listen: '192.0.2.1:1', token_file: belfry.yaml}"),
            2,
            "gateway.listen",
            "this machine"),
        Arguments.of("workers:\n  command: [resiser]", 2, "workers.command[0]", "on the PATH"),
        Arguments.of("workers:\n  command: [./]", 2, "workers.command[0]", "no program"),
        Arguments.of(
            demo("limits: {open_files: 2147483647}"), 3, "workers.limits.open_files", "ulimit -n"),
        Arguments.of(
            demo("limits: {memory_mib: 9223372036854775807}"),
            3,
            "workers.limits.memory_mib",
            "at most"),
        Arguments.of(more("logging: {format: xml}"), 2, "logging.format", "text, json"),
        Arguments.of(more("shutdown: {time_limit: 1d}"), 2, "shutdown.time_limit", "30s"),
        // Longer than a call may take, and than the clock of a shutdown can count.
        Arguments.of(
            more("gateway: {deadline: 481h}"), 2, "gateway.deadline", "of at most 20 days"),
        Arguments.of(
            more("shutdown: {time_limit: 3000000h}"),
            2,
            "shutdown.time_limit",
            "of at most 20 days"),
        // Not a path in any file system. In an ASCII locale, neither is one with an umlaut.
        Arguments.of("workers:\n  command: [\"./a\\0b\"]", 2, "workers.command[0]", "NUL"),
        Arguments.of("workers:\n  command: [\"a\\0b\"]", 2, "workers.command[0]", "NUL"),
        Arguments.of("a: &a [*a]", 1, "a[0]", "nested too deeply"),
        // A few bytes that expand to more than memory, in a host that only checks them.
        Arguments.of("a: &a [*a, *a]", 1, "a[0]", "nested too deeply"),
        Arguments.of(doubled(25), 1, "", "more than 10000 values"),
        Arguments.of("[".repeat(100_000), 1, "", "nested too deeply"));
  }

  /** Returns aliases that double the number of values with each line. */
  private static String doubled(int lines) {
    var text = new StringBuilder("a0: &a0 [x, x]\n");
    for (int i = 1; i < lines; i++) {
      text.append("a%d: &a%d [*a%d, *a%d]\n".formatted(i, i, i - 1, i - 1));
    }
    return text.toString();
  }

  private static String demo(String field) {
    return "workers:\n  builtin: demo\n  " + field;
  }

  private static String more(String section) {
    return "workers: {builtin: demo}\n" + section;
  }

  private static String clients(String fields) {
    return "admin:\n  tls: {certificate: belfry.yaml, key: belfry.yaml, " + fields + "}";
  }

  @ParameterizedTest
  @MethodSource("wrong")
  void whatIsWrongIsNamedWithLineAndField(String text, int line, String field, String reason)
      throws IOException {
    assertThat(faults(text))
        .anySatisfy(
            fault -> {
              assertThat(fault.field()).startsWith(field);
              assertThat(fault.line()).isEqualTo(line);
              assertThat(fault.reason()).contains(reason);
            });
  }

  /** Regression: the message had all of it, however long. */
  @Test
  void aFileThatIsSomethingElseIsNotPrinted() throws IOException {
    for (String text : List.of("some words\n".repeat(1000), "- a list\n", "7\n")) {
      assertThat(faults(text))
          .containsExactly(
              new ConfigFault(
                  1,
                  "",
                  "this is no configuration, which is fields with values, such as workers:"
                      + " {builtin: demo}"));
    }
    assertThat(faults(more("name: '" + "a b ".repeat(1000) + "'")))
        .singleElement()
        .satisfies(it -> assertThat(it.reason()).startsWith("\"a b a b ").contains("... must be "))
        .satisfies(it -> assertThat(it.reason()).hasSizeLessThan(300));
  }

  @Test
  void allThatIsWrongIsSaidAtOnce() throws IOException {
    String text = "workers:\n  count: 0\n  sparse: 1\ngateway: {deadline: 5}\n";
    assertThat(faults(text))
        .extracting(ConfigFault::line, ConfigFault::field)
        .containsExactlyInAnyOrder(
            tuple(1, "workers"),
            tuple(2, "workers.count"),
            tuple(3, "workers.sparse"),
            tuple(4, "gateway.deadline"));
  }

  /** Regression: it was valid, and every request with it was refused. */
  @Test
  void aTokenThatNoHeaderCanHaveIsRefusedAPasswordIsNot() throws Exception {
    Files.writeString(directory.resolve("secret"), "gr\u00fcn\n");
    for (String section : List.of("gateway", "admin")) {
      assertThat(faults(more(section + ": {token_file: secret}")))
          .extracting(ConfigFault::toString)
          .containsExactly(
              "line 2: %s.token_file: the file %s has characters beyond ASCII, which cannot be sent in a header: choose letters, digits and signs of ASCII"
                  .formatted(section, directory.resolve("secret")));
    }
    load(
        more(
            """
            admin:
              signal_endpoint_auth_method: basic
              basic: {user: ann, password_file: secret}
            """));
  }

  /**
   * A program without a slash is looked up as at its start: as the shell does, if one starts it.
   */
  @Test
  void aProgramIsLookedForOnThePathThatCounts() throws Exception {
    Path bin = Files.createDirectory(directory.resolve("bin"));
    Path resizer = Files.writeString(bin.resolve("resizer"), "#!/bin/sh\n");
    assertThat(resizer.toFile().setExecutable(true)).isTrue();
    String path = "environment: {PATH: '/nowhere:%s'}".formatted(bin);
    load("workers:\n  command: [sh]\n");
    load("workers:\n  command: [resizer]\n  limits: {open_files: 64}\n  " + path);
    assertThat(faults("workers:\n  command: [resizer]\n  " + path))
        .extracting(ConfigFault::field)
        .containsExactly("workers.command[0]");
  }

  private HostConfig load(String text) throws Exception {
    return WrittenConfig.in(directory, text).load();
  }

  private List<ConfigFault> faults(String text) throws IOException {
    return WrittenConfig.in(directory, text).faults();
  }
}
