package dev.belfry.cli.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.cli.NotifySocket;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.linux.Sys;
import dev.belfry.signals.SignalRecord;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sent to a real socket. {@code SystemdIT} shows when a host sends it. */
class SystemdTest {
  @TempDir private Path directory = Path.of("");

  private final List<String> logged = new ArrayList<>();

  private Systemd at(@Nullable String socket) {
    return new Systemd(Sys.forAnyThread(), this::record, socket);
  }

  private void record(SignalRecord record) {
    logged.add(record.message());
  }

  private static HostEntry host(@Nullable URI gateway, @Nullable URI admin) {
    return new HostEntry(1, "shop", gateway, admin, Path.of("counters"), null, Instant.EPOCH);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void itIsToldAtAPathAndAtANameThatIsNoFile(boolean isFile) throws Exception {
    try (NotifySocket socket =
        isFile
            ? NotifySocket.at(directory.resolve("notify"))
            : NotifySocket.named("belfry/" + directory.getFileName())) {
      Systemd systemd = at(socket.name());
      systemd.status("not yet");
      assertThat(socket.next()).isEqualTo("STATUS=not yet");
      systemd.ready(host(URI.create("http://localhost:1"), URI.create("http://localhost:2")));
      assertThat(socket.next())
          .isEqualTo("READY=1\nSTATUS=shop, calls http://localhost:1, console http://localhost:2/");
      systemd.ready(host(null, null));
      assertThat(socket.next()).isEqualTo("READY=1\nSTATUS=shop");
      systemd.stopping();
      assertThat(socket.next()).isEqualTo("STOPPING=1\nSTATUS=ends in good order");
    }
    assertThat(logged).isEmpty();
  }

  @Test
  void oneThatIsBehindIsWaitedFor() throws Exception {
    try (NotifySocket socket = NotifySocket.at(directory.resolve("notify"))) {
      var filled = new ArrayList<String>();
      Systemd impatient = at(socket.name());
      while (impatient.isThere()) { // until the socket is full
        filled.add("STATUS=" + filled.size());
        impatient.status(Integer.toString(filled.size() - 1));
      }
      filled.removeLast();
      Systemd systemd = at(socket.name());
      Thread told = Thread.ofPlatform().start(() -> systemd.ready(host(null, null)));
      for (String message : filled) {
        assertThat(socket.next()).isEqualTo(message);
      }
      assertThat(socket.next()).isEqualTo("READY=1\nSTATUS=shop");
      told.join();
      assertThat(systemd.isThere()).isTrue();
    }
    assertThat(logged).singleElement().asString().contains("EAGAIN");
  }

  @ParameterizedTest
  @ValueSource(strings = {"/nowhere/notify", "@nobody", "@", "vsock:2:1234", ""})
  void thatNobodyIsThereIsSaidOnce(String socket) {
    Systemd systemd = at(socket);
    systemd.ready(host(null, null));
    systemd.stopping();
    assertThat(logged)
        .singleElement()
        .asString()
        .startsWith("cannot tell systemd how the host is, by NOTIFY_SOCKET: ");
  }

  @Test
  void whereSystemdDoesNotAskNothingIsSaid() {
    Systemd systemd = at(null);
    assertThat(systemd.isThere()).isFalse();
    systemd.ready(host(null, null));
    systemd.stopping();
    assertThat(logged).isEmpty();
  }
}
