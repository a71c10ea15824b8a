package dev.belfry.cli.shm;

import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Message;
import dev.belfry.shm.SendResult;
import dev.belfry.shm.ShmException;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.SpawnArguments;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code belfry shm echo}: a guest that sends every message back. */
@Command(
    name = "echo",
    description = "Attaches to a segment and sends back every message, until its host leaves.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:the host has said goodbye", "1:it ended otherwise, or never began"})
final class ShmEcho implements Callable<Integer> {
  private static final int FAILED = 1;

  private final Supplier<Sys> sys;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Option(
      names = "--hub-path",
      required = true,
      paramLabel = "PATH",
      description = "The segment's file.")
  private Path hubPath = Path.of("");

  @Option(
      names = "--peer-id",
      paramLabel = "N",
      description = "The entry reserved for this guest; without it, it walks in.")
  private @Nullable Integer peerId;

  @Option(
      names = "--doorbell-fd",
      paramLabel = "N",
      description = "The inherited descriptor of the doorbell, with --peer-id.")
  private @Nullable Integer doorbell;

  @Option(
      names = "--wait",
      paramLabel = "STRATEGY",
      description = "What to do while waiting: ${COMPLETION-CANDIDATES}.")
  private WaitStrategy strategy = WaitStrategy.ADAPTIVE;

  ShmEcho(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() {
    try (ShmGuest guest = attach()) {
      String trouble = echo(guest);
      if (trouble == null) {
        return 0;
      }
      return fail(trouble);
    } catch (IOException | ShmException e) {
      return fail(Reason.of(e));
    }
  }

  private ShmGuest attach() throws IOException {
    if (peerId == null && doorbell == null) {
      return ShmGuest.walkIn(sys.get(), hubPath, strategy);
    }
    if (peerId == null || doorbell == null) {
      throw new ParameterException(
          spec.commandLine(), "A ticket has both --peer-id and --doorbell-fd.");
    }
    var ticket = new SpawnArguments(hubPath, peerId, doorbell);
    return ShmGuest.attach(
        sys.get(), ticket.toArguments().toArray(String[]::new), strategy); // checks the values
  }

  /** Echoes until the end; returns an error unless the host said goodbye. */
  private static @Nullable String echo(ShmGuest guest) {
    var message = new Message();
    while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
      SendResult result =
          guest.sendBlocking(
              message.kind(),
              message.id(),
              message.methodId(),
              message.bytes(),
              0,
              message.length(),
              FutexWait.FOREVER);
      if (result != SendResult.SENT && result != SendResult.OVER) {
        return "cannot answer %s: %s".formatted(message, result);
      }
    }
    ShmGuest.End end = guest.end().orElse(ShmGuest.End.DETACHED);
    return end == ShmGuest.End.HOST_GOODBYE ? null : "ended because of " + end;
  }

  private int fail(@Nullable String what) {
    spec.commandLine().getErr().println("belfry shm echo: " + what);
    return FAILED;
  }
}
