package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.signals.Registration;
import dev.belfry.signals.SignalRecord;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

final class HostEventsTest {
  private final HostEvents events = new HostEvents();

  private List<String> all() {
    var texts = new ArrayList<String>();
    events.onEvent(event -> texts.add(event.kind() + " " + event.text())).close();
    return texts;
  }

  @Test
  void aListenerHearsWhatWasAndWhatComesUntilItIsClosed() {
    events.add("death", "one");
    var heard = new ArrayList<String>();
    Registration listening = events.onEvent(event -> heard.add(event.text()));
    events.add("ready", "two");
    listening.close();
    events.add("death", "three");
    assertThat(heard).containsExactly("one", "two");
    assertThat(all()).containsExactly("death one", "ready two", "death three");
  }

  @Test
  void onlyTheLatestAreKeptAndLongTextsAreCut() {
    for (int i = 0; i <= HostEvents.KEPT; i++) {
      events.add("death", i + "-" + "x".repeat(1000));
    }
    assertThat(all()).hasSize(HostEvents.KEPT).first().asString().startsWith("death 1-");
    assertThat(all()).allMatch(text -> text.length() < 500);
  }

  private static SignalRecord record(String event, String message, String name, String value) {
    return new SignalRecord(
        Level.INFO, event, message, Map.of("signal", "SIGHUP", "origin", "kill", name, value));
  }

  @Test
  void signalsAndReloadsAreEventsAndAreLoggedAllTheSame() {
    var logged = new ArrayList<SignalRecord>();
    var log = events.watching(logged::add);
    log.log(record("signal.received", "received SIGHUP", "reason", "rotate"));
    log.log(record("signal.received", "received SIGHUP", "reason", ""));
    log.log(record("signal.reload_rejected", "reload rejected", "reason", "line 3"));
    log.log(record("signal.reload_accepted", "the new configuration is valid", "x", ""));
    log.log(record("signal.ignored", "already ending because of SIGTERM", "x", ""));
    log.log(record("signal.steps_started", "started x", "steps", "x"));
    assertThat(all())
        .containsExactly(
            "signal SIGHUP from kill: rotate",
            "signal SIGHUP from kill",
            "reload rejected: line 3",
            "reload the new configuration is valid",
            "signal SIGHUP changes nothing, already ending because of SIGTERM");
    assertThat(logged).hasSize(6);
  }
}
