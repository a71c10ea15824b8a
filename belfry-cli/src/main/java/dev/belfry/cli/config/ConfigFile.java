package dev.belfry.cli.config;

import dev.belfry.admin.AdminTls;
import dev.belfry.admin.AuthMethod;
import dev.belfry.cli.NamedFile;
import dev.belfry.shm.Placement;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CoderResult;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/** Reads a host's configuration from a file. */
public final class ConfigFile {
  private static final int MAX_BYTES = 1 << 20;

  private final Section root;

  private ConfigFile(Section root) {
    this.root = root;
  }

  /**
   * Reads and checks a file, including the files, addresses and programs it refers to.
   *
   * @throws IOException if the file cannot be read
   * @throws ConfigException if the configuration has faults, with all of them
   */
  public static HostConfig load(Path file) throws IOException, ConfigException {
    if (Files.isDirectory(file)) {
      throw new FileSystemException(file.toString(), null, "is a directory");
    }
    var faults = new ArrayList<ConfigFault>();
    YamlTree tree = YamlTree.parse(text(file), faults);
    if (faults.isEmpty()) {
      new ConfigSchema().check(tree, faults);
    }
    stopAt(faults, file);
    // Not normalized: only the file system knows what ".." after a symbolic link means.
    Path directory = file.toAbsolutePath().resolveSibling("");
    try {
      HostConfig config = new ConfigFile(new Section(tree.root(), directory, "")).host();
      new ConfigChecks(tree, faults).check(config);
      stopAt(faults, file);
      return config;
    } catch (Section.NoPath e) {
      faults.add(new ConfigFault(tree.line(e.field()), e.field(), e.reason()));
      throw new ConfigException(file, faults);
    }
  }

  /** Limits what is read, not the file's size: pipes and devices do not report theirs. */
  private static byte[] bytes(Path file) throws IOException {
    byte[] bytes = NamedFile.read(file, MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) {
      throw new IOException(file + " has more than 1 MiB, too much for a configuration");
    }
    return bytes;
  }

  /** Rejects malformed UTF-8, which a lenient decoder would replace by other characters. */
  private static String text(Path file) throws IOException, ConfigException {
    byte[] bytes = bytes(file);
    CharBuffer text = CharBuffer.allocate(bytes.length);
    CoderResult result =
        StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes), text, true);
    text.flip();
    if (result.isError()) {
      int line = (int) text.chars().filter(c -> c == '\n').count() + 1;
      throw new ConfigException(file, List.of(new ConfigFault(line, "", "this is not UTF-8 text")));
    }
    return text.toString();
  }

  private static void stopAt(List<ConfigFault> faults, Path file) throws ConfigException {
    if (!faults.isEmpty()) {
      faults.sort(Comparator.comparingInt(ConfigFault::line));
      throw new ConfigException(file, faults);
    }
  }

  private HostConfig host() {
    return new HostConfig(
        root.text("name", "belfry"),
        workers(root.section("workers")),
        root.has("gateway") ? Optional.of(gateway(root.section("gateway"))) : Optional.empty(),
        root.has("admin") ? Optional.of(admin(root.section("admin"))) : Optional.empty(),
        logging(root.section("logging")),
        root.section("shutdown").duration("time_limit", HostConfig.SHUTDOWN_LIMIT));
  }

  private static WorkersConfig workers(Section workers) {
    Section recycle = workers.section("recycle");
    return new WorkersConfig(
        program(workers),
        workers.text("name", WorkersConfig.NAME),
        workers.integer("count", WorkersConfig.COUNT),
        workers.integer("spares", WorkersConfig.SPARES),
        workers.path("directory"),
        workers.map("environment"),
        limits(workers.section("limits")),
        workers.choice("placement", Placement.PADDED),
        workers.choice("waiting", WaitStrategy.ADAPTIVE),
        restart(workers.section("restart")),
        new WorkersConfig.Recycle(recycle.number("calls"), recycle.duration("age")));
  }

  private static WorkerProgram program(Section workers) {
    if (workers.has("command")) {
      var words = new ArrayList<>(workers.texts("command"));
      if (words.getFirst().contains("/")) { // else it is looked up on the PATH
        words.set(0, workers.resolved("command", 0, words.getFirst()));
      }
      return new WorkerProgram.Command(words);
    }
    if (workers.has("java")) {
      Section java = workers.section("java");
      return new WorkerProgram.Java(
          java.text("main", ""), classPath(java), java.texts("options"), java.texts("arguments"));
    }
    return new WorkerProgram.Demo();
  }

  private static List<String> classPath(Section java) {
    List<String> parts = java.texts("class_path");
    return IntStream.range(0, parts.size())
        .mapToObj(i -> java.resolved("class_path", i, parts.get(i)))
        .toList();
  }

  private static WorkersConfig.Limits limits(Section limits) {
    var otherwise = WorkersConfig.Limits.DEFAULT;
    return new WorkersConfig.Limits(
        limits.integer("calls_per_worker", otherwise.callsPerWorker()),
        limits.integer("attempts", otherwise.attempts()),
        limits.duration("ready", otherwise.ready()),
        limits.duration("stuck", otherwise.stuck()),
        limits.duration("heartbeat", otherwise.heartbeat()),
        limits.number("open_files"),
        limits.number("memory_mib"));
  }

  private static WorkersConfig.Restart restart(Section restart) {
    var otherwise = WorkersConfig.Restart.DEFAULT;
    return new WorkersConfig.Restart(
        restart.duration("first_delay", otherwise.firstDelay()),
        restart.duration("longest_delay", otherwise.longestDelay()),
        restart.integer("crash_limit", otherwise.crashLimit()));
  }

  private static GatewayConfig gateway(Section gateway) {
    var otherwise = GatewayConfig.DEFAULT;
    return new GatewayConfig(
        gateway.address("listen", otherwise.listen()),
        gateway.secret("token_file", "token_env"),
        gateway.number("max_bytes", otherwise.maxBytes()),
        gateway.duration("deadline", otherwise.deadline()));
  }

  private static AdminConfig admin(Section admin) {
    var otherwise = AdminConfig.DEFAULT;
    Section basic = admin.section("basic");
    return new AdminConfig(
        admin.address("listen", otherwise.listen()),
        admin.path("unix_socket"),
        admin.secret("token_file", "token_env"),
        basic
            .path("password_file")
            .map(it -> new AdminConfig.Basic(basic.text("user", ""), new SecretSource.InFile(it))),
        admin.has("tls") ? Optional.of(tls(admin.section("tls"))) : Optional.empty(),
        admin.text("signal_endpoint_auth_method").map(AuthMethod::of),
        admin.integer("signal_rate_limit", otherwise.signalRateLimit()));
  }

  private static AdminTls tls(Section tls) {
    return new AdminTls(
        tls.path("certificate").orElseThrow(),
        tls.path("key").orElseThrow(),
        tls.path("client_authorities"),
        Set.copyOf(tls.texts("allowed_clients")));
  }

  private static LoggingConfig logging(Section logging) {
    return new LoggingConfig(
        logging.choice("format", LoggingConfig.DEFAULT.format()),
        logging.choice("level", LoggingConfig.DEFAULT.level()));
  }
}
