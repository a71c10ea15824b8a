package dev.belfry.cli.call;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.cli.ClientToken;
import dev.belfry.cli.NamedFile;
import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.cli.WebAddress;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.workers.WorkerPool;
import java.io.Console;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpTimeoutException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry call}: calls a method of a running host's workers. */
@Command(
    name = "call",
    description = "Calls a method of a running host's workers and prints its answer.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the method answered",
      "1:the call failed or was not answered in time; standard error says why",
      "2:the command line is wrong, or DATA cannot be read",
      "3:there is no host to call"
    })
public final class CallCommand implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int NO_HOST = 3;

  /** After this time, a user at a terminal is told that the call is still under way. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** What Java decodes command-line bytes to that are not characters of the locale. */
  private static final char UNKNOWN = '\ufffd';

  /** The most bytes to read, one beyond the limit: the input may be endless. */
  private static final int MORE_THAN_MAY_BE = WorkerPool.MAX_PAYLOAD_BYTES + 1;

  /** The DATA that stands for standard input. */
  private static final String INPUT = "-";

  private final InputStream in;
  private final OutputStream out;
  private final Finder finder;

  @Parameters(index = "0", paramLabel = "METHOD", description = "The name of the method.")
  private String method = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "DATA",
      description = {
        "The payload: text, @FILE for the bytes of a file, - for standard input. Empty by default."
      })
  private String data = "";

  @Option(
      names = "--host",
      paramLabel = "PID|NAME",
      description = "Which host, if several are running.")
  private @Nullable String host;

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = "The gateway of a host that is not in the run directory of this user.")
  private @Nullable String url;

  @Option(
      names = "--deadline",
      paramLabel = "MS",
      defaultValue = "30000",
      description =
          "How many milliseconds the call may take, ${DEFAULT-VALUE} by default; the host may allow less.")
  private long deadlineMillis;

  @Option(
      names = "--at-most-once",
      description = "If the worker dies, fail rather than let another one do it.")
  private boolean atMostOnce;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = "The file with the token, for a gateway that wants one.")
  private @Nullable Path tokenFile;

  @Option(names = "--json", description = "Print the answer, or why there is none, as JSON.")
  private boolean json;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  /** Finds running hosts. */
  @FunctionalInterface
  interface Finder {
    /** Returns the host with that process id or name; for null, the only one. */
    HostEntry find(@Nullable String which) throws IOException;
  }

  /** Creates the command with standard input and, for binary data, standard output. */
  public CallCommand(InputStream in, OutputStream out) {
    this(in, out, which -> RunDirectory.ofUser().find(which));
  }

  CallCommand(InputStream in, OutputStream out, Finder finder) {
    this.in = in;
    this.out = out;
    this.finder = finder;
  }

  @Override
  public Integer call() throws InterruptedException {
    if (deadlineMillis < 1) {
      throw new ParameterException(spec.commandLine(), "--deadline is at least 1 ms.");
    }
    if (method.isEmpty()) {
      throw new ParameterException(spec.commandLine(), "Say which METHOD to call.");
    }
    if (host != null && url != null) {
      throw new ParameterException(
          spec.commandLine(), "Say where with --host or with --url, not with both.");
    }
    if ((method + data).indexOf(UNKNOWN) >= 0) {
      throw new ParameterException(
          spec.commandLine(),
          "METHOD or DATA has characters that this locale cannot express: set LC_ALL=C.UTF-8, or"
              + " give DATA as @FILE or -.");
    }
    var call = new GatewayCall(method, payload(), deadlineMillis, atMostOnce, token());
    Reply reply;
    try {
      reply = call.send(gateway(), PATIENCE, this::sayThatItTakesTime);
    } catch (IOException e) {
      return reportAbsence(Reason.of(e), e instanceof HttpTimeoutException);
    }
    return report(reply);
  }

  private int reportAbsence(String reason, boolean hangs) {
    if (json) {
      spec.commandLine()
          .getOut()
          .println(Reply.absentAsJson(hangs ? "no_reply" : "no_host", reason));
    } else {
      spec.commandLine().getErr().println("belfry call: " + reason);
    }
    return hangs ? FAILED : NO_HOST;
  }

  private int report(Reply reply) {
    if (json) {
      spec.commandLine().getOut().println(reply.toJson());
    } else if (!reply.isAnswer()) {
      spec.commandLine().getErr().println("belfry call: " + reply.toText());
    } else {
      try {
        out.write(reply.body());
        out.flush();
      } catch (IOException e) {
        return FAILED; // StandardOutput knows why, and reports it at the end
      }
    }
    return reply.isAnswer() ? 0 : FAILED;
  }

  /** Tells people only: programs should read nothing but the call's result. */
  @SuppressWarnings("SystemConsoleNull") // a JDK without jdk.internal.le may have none
  private void sayThatItTakesTime() {
    Console console = System.console();
    if (console != null && console.isTerminal()) {
      spec.commandLine().getErr().println("belfry call: waiting for '" + method + "' ...");
    }
  }

  private URI gateway() throws IOException {
    String typed = url;
    if (typed != null) {
      return WebAddress.parse(typed)
          .orElseThrow(
              () ->
                  new ParameterException(
                      spec.commandLine(),
                      "'"
                          + typed
                          + "' is not the URL of a gateway, such as http://127.0.0.1:7070."));
    }
    HostEntry found = finder.find(host);
    if (found.gateway() == null) {
      throw new IOException(found + " has no gateway; its config can give it one");
    }
    return found.gateway();
  }

  private byte[] payload() {
    if (data.equals(INPUT)) {
      return read(
          "standard input", () -> atMost(in.readNBytes(MORE_THAN_MAY_BE), "standard input"));
    }
    if (data.equals("@")) {
      throw new ParameterException(spec.commandLine(), "Say which file: @FILE.");
    }
    return data.startsWith("@") ? readFile(data.substring(1)) : data.getBytes(UTF_8);
  }

  private byte[] readFile(String name) {
    return read(name, () -> atMost(NamedFile.read(Path.of(name), MORE_THAN_MAY_BE), name));
  }

  private byte[] atMost(byte[] bytes, String name) {
    if (bytes.length > WorkerPool.MAX_PAYLOAD_BYTES) {
      throw new ParameterException(
          spec.commandLine(),
          "%s has more than %d MiB, which is the most that a payload may have."
              .formatted(name, WorkerPool.MAX_PAYLOAD_BYTES >> 20));
    }
    return bytes;
  }

  private @Nullable String token() {
    Path file = tokenFile;
    try {
      return file == null ? null : read(file.toString(), () -> ClientToken.fromFile(file));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
  }

  private interface Source<T> {
    T read() throws IOException;
  }

  private <T> T read(String what, Source<T> source) {
    try {
      return source.read();
    } catch (IOException e) {
      throw new ParameterException(
          spec.commandLine(), "Cannot read " + what + ": " + Reason.of(e), e);
    }
  }
}
