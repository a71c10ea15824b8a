package dev.belfry.cli.signals;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.signals.Platform;
import dev.belfry.signals.SignalCatalog;
import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;

class SignalListTest {
  // r[verify signals.supports.reporting]
  @Test
  void onWindowsTheListSaysWhatToDoInstead() {
    var out = new StringWriter();
    SignalList.of(SignalCatalog.bundled(), Platform.WINDOWS).printTable(new PrintWriter(out, true));
    assertThat(out.toString())
        .containsPattern("SIGHUP .* unsupported")
        .contains("instead: POST /admin/signal with signal=HUP")
        .containsPattern("SIGTERM .* mapped");
  }
}
