package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.shm.SegmentException.Reason;
import dev.belfry.testkit.Descriptors;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Tests each of which has a path for a segment, and leaves no descriptor behind. */
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

  /** Why a guest does not take the file for a segment. */
  final Reason refusal() {
    try {
      Segment.attach(SYS, path).close();
      throw new AssertionError("it was not refused");
    } catch (SegmentException e) {
      assertThat(e).hasMessageContaining(path.toString());
      return e.reason();
    } catch (IOException e) {
      throw new AssertionError("another error", e);
    }
  }
}
