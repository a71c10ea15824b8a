package dev.belfry.cli.run;

import dev.belfry.cli.Version;
import dev.belfry.cli.WebAddress;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry signal}: sends a signal to a process, or to a host through its admin surface. */
@Command(
    name = "signal",
    description = "Sends a signal to a process, or to a host over HTTP.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:the signal was sent, or the host accepted it",
      "1:there is no such process or host, or the host refused it"
    })
public final class SendSignal implements Callable<Integer> {
  @Parameters(
      index = "0",
      paramLabel = "PID|NAME|URL",
      description = {
        "A process id, the name of a running host of this user, or the admin surface of any host,"
            + " such as http://127.0.0.1:7071."
      })
  private String target = "";

  @Parameters(
      index = "1",
      paramLabel = "SIGNAL",
      description = "A name such as TERM or SIGHUP, in any case, or a number.")
  private String name = "";

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = {
        "Where the token of the admin surface is.",
        "By default in the environment variable BELFRY_TOKEN, else, for hosts of this user, in the"
            + " run directory."
      })
  private @Nullable Path tokenFile;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Why, for the log of a host at a URL.")
  private String reason = "";

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private final Supplier<Sys> sys;

  /** Creates the command. */
  public SendSignal(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    int signal =
        Signo.parse(name)
            .orElseThrow(
                () ->
                    new ParameterException(
                        spec.commandLine(), "There is no signal '" + name + "'."));
    if (target.contains("://")) {
      spec.commandLine().getOut().println(post(signal));
      return 0;
    }
    refuseForProcess("--reason", !reason.isEmpty());
    refuseForProcess("--token-file", tokenFile != null);
    if (target.matches("[0-9]+")) {
      kill(target, signal);
    } else {
      kill(Long.toString(RunDirectory.ofUser().find(target).pid()), signal);
    }
    return 0;
  }

  private void refuseForProcess(String option, boolean isThere) {
    if (isThere) {
      throw new ParameterException(
          spec.commandLine(), option + " is for the URL of an admin surface, not for a process.");
    }
  }

  private void kill(String pid, int signal) throws IOException {
    try {
      Processes.kill(sys.get(), number(pid), signal);
    } catch (ErrnoException e) {
      if (e.is(Errno.EPERM)) {
        throw new IOException("process " + pid + " belongs to another user, who has to do this", e);
      }
      throw e.is(Errno.ESRCH) ? new IOException("there is no process " + pid, e) : e;
    }
  }

  /** To the kernel zero and, after a cast, large numbers may mean a group of processes, or all. */
  private static int number(String pid) throws IOException {
    try {
      int number = Integer.parseInt(pid);
      if (number > 0) {
        return number;
      }
    } catch (NumberFormatException tooLarge) {
      // No process has it.
    }
    throw new IOException(pid + " is not a possible process id");
  }

  private String post(int signal) throws IOException, InterruptedException {
    String plain = Signo.name(signal).replaceFirst("^SIG", "");
    URI surface = surface();
    AdminClient client;
    try {
      client = AdminClient.at(surface, tokenFile);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage(), e);
    }
    return client.raise(plain, reason);
  }

  private URI surface() {
    return WebAddress.parse(target)
        .orElseThrow(
            () ->
                new ParameterException(
                    spec.commandLine(),
                    "'" + target + "' is not the URL of a host, such as http://127.0.0.1:7071."));
  }
}
