package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests that create a segment in a file, and leave nothing open. */
abstract class WithSegmentFile {
  static final Sys SYS = Sys.forAnyThread();

  @TempDir Path directory;
  Path path;
  private Descriptors before;

  @BeforeEach
  void look() throws IOException {
    path = directory.resolve("hub");
    Lifeline.get(SYS); // lives as long as the process
    before = Descriptors.now();
  }

  @AfterEach
  void nothingIsLeftOpen() {
    assertThat(before.openedSince()).isEmpty();
  }

  final Segment create() throws IOException {
    return Segment.create(SYS, path, Placement.V1, Sides.CONFIG);
  }

  /** Truncates the file to so many bytes. */
  final void cut(long bytes) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(bytes);
    }
  }
}
