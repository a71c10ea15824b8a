package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A signal that arrived while the program was starting is delivered as soon as possible. */
@Timeout(60)
final class FirstSignalTest implements ExitPort {
  private final List<String> happened = new CopyOnWriteArrayList<>();

  private SignalsBuilder builder(String signal) {
    return Signals.builder()
        .clock(new ManualClock())
        .exit(this)
        .log(record -> happened.add(record.event()))
        .source(new Waiting(signal));
  }

  /** The reload used to be rejected because the program had not registered its validator yet. */
  @Test
  void aReloadFindsItsValidator() {
    try (Signals signals = builder("SIGHUP").onReload(List::of).open()) {
      assertThat(happened).contains("exit 129").doesNotContain("signal.reload_rejected");
      assertThat(signals.reloadFailures()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SIGUSR1", "SIGTERM"})
  void aSignalFindsItsHandler(String name) {
    try (Signals _ =
        builder(name).handle(name, signal -> happened.add("handler " + signal)).open()) {
      assertThat(happened).contains("handler " + name);
    }
  }

  @Test
  void oneOnWhichTheProgramIsToEndEndsIt() {
    try (Signals _ = builder("SIGHUP").endOn("HUP").open()) {
      await().untilAsserted(() -> assertThat(happened).contains("exit 129"));
      assertThat(happened).doesNotContain("signal.reload_rejected");
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"FOO", "KILL"})
  void whatIsNoSignalOrCannotBeCaughtIsRefusedBeforeAnythingIsOpen(String name) {
    assertThatThrownBy(() -> builder("SIGHUP").handle(name, _ -> {}).open())
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
    assertThat(happened).isEmpty();
  }

  @Override
  public void exit(int code) {
    happened.add("exit " + code);
  }

  @Override
  public void halt(int code) {
    happened.add("halt " + code);
  }

  /** Has one pending signal, which is delivered and fully handled during subscription. */
  private final class Waiting implements SignalSource {
    private final String waiting;

    Waiting(String waiting) {
      this.waiting = waiting;
    }

    @Override
    public String name() {
      return "waiting";
    }

    @Override
    public Optional<String> subscribe(Signal signal, Receiver receiver) {
      if (signal.name().equals(waiting)) {
        receiver.receive(signal);
        await()
            .until(
                () ->
                    happened.stream()
                        .anyMatch(
                            it ->
                                it.startsWith("exit")
                                    || it.equals("signal.reload_rejected")
                                    || it.equals("signal.handled")
                                    || it.equals("signal.unhandled")));
      }
      return Optional.empty();
    }

    @Override
    public void close() {}
  }
}
