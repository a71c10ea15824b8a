package dev.belfry.cli.hosts;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;

/** A process that announces itself in a run directory until it reads a line or is killed. */
final class AnnouncedHost {
  private AnnouncedHost() {}

  /** Takes the directory and the host's name. */
  public static void main(String[] args) throws IOException {
    RunDirectory directory = RunDirectory.at(Sys.forAnyThread(), Path.of(args[0]));
    var entry =
        new HostEntry(
            ProcessHandle.current().pid(),
            args[1],
            URI.create("http://127.0.0.1:7070"),
            null,
            Files.createFile(directory.newCountersFile()),
            Path.of("/etc/belfry.yaml"),
            Instant.now());
    try (var _ = directory.announce(entry)) {
      System.out.println("announced");
      System.in.read();
    }
    System.out.println("closed");
    System.in.read();
  }
}
