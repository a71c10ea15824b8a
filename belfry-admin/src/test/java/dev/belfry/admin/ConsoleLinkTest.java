package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.Keys;

/** The page and its connection to the host. */
@Timeout(180)
final class ConsoleLinkTest extends InBrowser {
  @Test
  void whereTooManyAreOpenItSaysSoAndWaitsForItsTurn() throws Exception {
    Visitor other = Visitor.signedIn(host());
    var streams = new ArrayList<SocketChannel>();
    for (int i = 0; i < ConsoleFeed.MAX_STREAMS; i++) {
      streams.add(other.stream());
    }
    waitFor(() -> !other.get("/console/session").json().get("has_room").asBoolean());
    load();
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").startsWith("Too many consoles are open already"));
    for (SocketChannel stream : streams) {
      stream.close();
    }
    waitFor(() -> text("#link").equals("Live"));
  }

  /** Records the streams that the page opens, and holds back its next requests for the session. */
  private static final String HOLD_BACK =
      """
      window.opened = [];
      window.EventSource = class extends EventSource {
        constructor(address) {
          super(address);
          opened.push(this);
        }
      };
      window.held = [];
      window.ask = window.fetch;
      window.fetch = (address, options) => address !== '/console/session' ? ask(address, options)
        : new Promise((answer, fail) => held.push({fail, async go() {
          const reply = await ask(address, options);
          answer(reply.clone());
          await reply.text();
        }}));
      Object.defineProperty(document, 'hidden', {get: () => window.isAway});
      window.look = away => {
        window.isAway = away;
        document.dispatchEvent(new Event('visibilitychange'));
      };
      """;

  /** Each request for the session used to open a stream, and only the last was ever closed. */
  @Test
  void whoeverLooksAwayAndBackQuicklyHasOneStream() {
    signIn();
    browser().executeScript(HOLD_BACK + "look(true); look(false); look(true); look(false);");
    browser()
        .executeAsyncScript(
            """
            const done = arguments[0];
            held[0].go().then(() => held[1].go()).then(() => ask('/console/session')).then(done);
            """);
    waitFor(() -> isTrue("return opened.some(it => it.readyState === EventSource.OPEN)"));
    view.events.add("news", "seen once");
    waitFor(() -> text("#journal").contains("seen once"));
    assertThat(isTrue("return opened.length === 1")).isTrue();
    assertThat(text("#journal").split("seen once", -1)).hasSize(2);
  }

  /** The page used to show a lost connection despite the new stream, and to ask forever. */
  @Test
  void aQuestionThatFailsAfterSignOutChangesNothing() {
    signIn();
    browser().executeScript(HOLD_BACK + "look(true); look(false); fetch = ask;");
    find("#logout").click();
    waitFor(() -> find("#login input[name=secret]").isDisplayed());
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").equals("Live"));
    Object link =
        browser()
            .executeAsyncScript(
                """
                const done = arguments[0];
                held[0].fail(new Error('too late'));
                setTimeout(() => done(document.getElementById('link').dataset.link));
                """);
    assertThat(link).isEqualTo("live");
  }

  /** The page used to keep its last numbers and to try nothing more. */
  @Test
  void signingOutOfAHostThatIsGoneSaysSo() {
    signIn();
    host().admin.close();
    waitFor(() -> List.of("ended", "lost").contains(find("#link").getDomAttribute("data-link")));
    find("#logout").click();
    waitFor(() -> text("#banner").startsWith("The host does not answer"));
  }

  private boolean isTrue(String script) {
    return Boolean.TRUE.equals(browser().executeScript(script));
  }

  @Test
  void theEndOfTheHostIsSaid() {
    signIn();
    host().admin.close();
    waitFor(() -> List.of("ended", "lost").contains(find("#link").getDomAttribute("data-link")));
    assertThat(find("#console").getDomAttribute("class")).contains("stale");
  }

  /** The page used to show "Live" and the last numbers for as long as the host hung. */
  @Test
  void aHostThatSaysNothingForSecondsIsNotLive() {
    signIn();
    browser()
        .executeScript(
            HOLD_BACK
                + """
                fetch = ask;
                window.Real = EventSource;
                window.EventSource = class {
                  addEventListener() {}
                  close() {}
                };
                look(true);
                look(false);
                """);
    waitFor(() -> text("#link").equals("Connection lost, trying again"));
    assertThat(find("#console").getDomAttribute("class")).contains("stale");
    browser().executeScript("EventSource = Real");
    waitFor(() -> text("#link").equals("Live"));
  }

  /** The page used to wait forever for the answer about its session, and never asked again. */
  @Test
  void aQuestionThatNobodyAnswersIsAskedAgain() {
    signIn();
    browser()
        .executeScript(
            HOLD_BACK
                + """
                fetch = (address, options) => new Promise((_, fail) => {
                  held.push(options);
                  options.signal?.addEventListener('abort', () => fail(options.signal.reason));
                });
                look(true);
                look(false);
                """);
    waitFor(() -> isTrue("return held.length > 1"));
    assertThat(text("#link")).isEqualTo("Connection lost, trying again");
    browser().executeScript("fetch = ask");
    waitFor(() -> text("#link").equals("Live"));
  }
}
