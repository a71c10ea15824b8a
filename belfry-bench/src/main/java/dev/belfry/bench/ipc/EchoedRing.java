package dev.belfry.bench.ipc;

import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.bench.harness.Workshop;
import java.io.IOException;
import java.nio.file.Path;

/** A Belfry ring to another process, which echoes everything. For one thread. */
public final class EchoedRing implements AutoCloseable {
  private static final IpcContender KIND = IpcContender.BELFRY_ADAPTIVE;

  private final Path directory;
  private final ContenderProcess other;
  private final IpcEnd end;
  private long sent;
  private long received;

  private EchoedRing(Path directory, ContenderProcess other, IpcEnd end) {
    this.directory = directory;
    this.other = other;
    this.end = end;
  }

  /** Starts the other process, for messages of this many bytes. */
  public static EchoedRing open(int length) throws Exception {
    Path directory = IpcPair.newDirectory();
    ContenderProcess other =
        ContenderProcess.start(
            KIND.label, KIND.command(Path.of(""), "echo", directory, length), Pinning.NONE);
    other.awaitReady();
    return new EchoedRing(directory, other, KIND.active(directory, length, true));
  }

  /** Sends a message without waiting for its echo. */
  public void send() throws Exception {
    end.send(sent++);
  }

  /** Waits for the echo of the oldest message in flight. */
  public void receive() throws Exception {
    IpcEnd.check(end.receive(), received++);
  }

  @Override
  public void close() throws IOException {
    other.close();
    Workshop.delete(directory);
  }
}
