package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import dev.belfry.testkit.SysTap;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;

/** Tests with both ends of a bell, which leave no descriptor behind. */
@Timeout(60)
abstract class WithBells {
  static final Duration LONG = Duration.ofSeconds(30);

  final SysTap tap = SysTap.over(Sys.forAnyThread());
  private Descriptors before;
  Doorbell host;
  Doorbell guest;

  @BeforeEach
  void open() throws Exception {
    before = Descriptors.now(); // after creating the test's directory, which opens others for good
    Doorbell.Pair bells = Doorbell.pair(tap.sys());
    host = bells.host();
    guest = bells.guest();
  }

  @AfterEach
  void close() {
    host.close();
    guest.close();
    assertThat(before.openedSince()).isEmpty();
  }
}
