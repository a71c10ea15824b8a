package dev.belfry.cli;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;

/**
 * Holds the two ports of a host without a configuration. Tests run in several processes; one that
 * starts such a host holds this meanwhile.
 */
final class DemoPorts implements AutoCloseable {
  private static final Path LOCK = Installation.PROJECT.resolve("belfry-cli/target/demo-ports");

  private final FileChannel held;

  private DemoPorts(FileChannel held) {
    this.held = held;
  }

  /** Waits until no other test holds the ports and nothing listens there. */
  static DemoPorts hold() throws IOException {
    Files.createDirectories(LOCK.getParent());
    FileChannel channel =
        FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    channel.lock();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> HostProgram.isFree(7070) && HostProgram.isFree(7071));
    return new DemoPorts(channel);
  }

  @Override
  public void close() throws IOException {
    held.close();
  }
}
