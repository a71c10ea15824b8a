package dev.belfry.shm;

import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests with a loop, and hosts on it; see {@link HostFixture}. */
@Timeout(120)
abstract class WithHost {
  static final SegmentConfig CONFIG = HostFixture.CONFIG;

  @TempDir Path directory;

  final Notices notices = new Notices();
  HostFixture fixture;
  RunningLoop loop;

  @BeforeEach
  void startLoop() throws Exception {
    fixture = new HostFixture();
    loop = fixture.loop;
  }

  void open(Placement placement) throws Exception {
    fixture.open(
        HostOptions.DEFAULT
            .withPlacement(placement)
            .withConfig(CONFIG)
            .withWalkIns(notices.options()));
  }

  ShmHost host() {
    return fixture.host();
  }

  @AfterEach
  void close() throws Exception {
    fixture.close();
  }
}
