package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class ReadinessTest {
  /** It was ready from the first moment on, whether or not there was anybody to do the work. */
  @Test
  void itIsReadyWhileTheProgramTakesWorkAndLiveInAnyCase() throws Exception {
    var takesWork = new AtomicBoolean();
    AdminOptions options =
        new AdminOptions()
            .port(0)
            .bearerToken(Secret.of(Transport.TOKEN))
            .readyWhile(takesWork::get);
    try (Host host = Host.open(Transport.PLAIN, options)) {
      assertThat(status(host, "/health/ready")).isEqualTo(503);
      assertThat(status(host, "/health/live")).isEqualTo(200);
      takesWork.set(true);
      assertThat(status(host, "/health/ready")).isEqualTo(200);
      takesWork.set(false);
      assertThat(status(host, "/health/ready")).isEqualTo(503);
      assertThat(status(host, "/health/live")).isEqualTo(200);
    }
  }

  private static int status(Host host, String path) throws Exception {
    return host.sendAs("GET", path, Map.of(), new byte[0]).status();
  }
}
