package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;

/** What the page shows and what users can do there. Screenshots go to {@code target/console}. */
@Timeout(180)
final class ConsolePageTest extends InBrowser {
  private static final Path PICTURES = Path.of("target", "console");

  /** Finds elements that extend beyond their panel, and readings that do not fit on one line. */
  private static final String OUT_OF_PLACE =
      """
      const right = it => it.getBoundingClientRect().right;
      const bottom = it => it.getBoundingClientRect().bottom;
      const out = [...document.querySelectorAll('.panel')].flatMap(panel =>
        [...panel.querySelectorAll('*')].filter(it => right(it) > right(panel)));
      const below = [...document.querySelectorAll('.readings')].flatMap(readings =>
        [...readings.querySelectorAll('span')].filter(it =>
          it.textContent && bottom(it) > bottom(readings.querySelector('.value')) + 2));
      return [...out, ...below].map(it => it.tagName + ' ' + it.textContent);
      """;

  @Test
  void anOperatorSignsInWatchesAndSendsSignalsByTheKeyboardAlone() throws Exception {
    browser().size(1360, 900);
    signIn();
    assertThat(browser().findElements(By.cssSelector("#workers tr"))).hasSize(4);
    assertThat(text("#workers tr:first-child")).contains("render-1", "ready", "41207", "µs");
    assertThat(browser().getTitle()).contains(LivelyHost.NAME);
    assertThat(browser().executeScript("return document.cookie")).isEqualTo("");

    // The page updates by itself.
    String calls = text("#chart-calls .value");
    String curve = curve("calls");
    String finished = text("#finished");
    waitFor(
        () -> !text("#chart-calls .value").equals(calls) && !text("#finished").equals(finished));
    waitFor(() -> curve("calls").length() > curve.length());
    for (String chart : List.of("latency", "ring", "slots")) {
      assertThat(curve(chart)).as(chart).startsWith("M").contains("L");
    }
    view.kill(1);
    view.state(2, "starting");
    waitFor(() -> text("#workers tr:nth-child(2)").contains("42214"));
    assertThat(text("#journal li:nth-child(2)")).contains("death", "render-2 (41214)");
    waitFor(() -> text("#deaths").equals("1"));
    waitFor(() -> text("#workers-count").equals("3 of 4 ready"));

    // All charts show the same moment of the past.
    tabTo("#chart-calls .plot");
    press(Keys.ARROW_LEFT);
    assertThat(text("#chart-slots .when")).matches("\\d\\d:\\d\\d:\\d\\d");
    press(Keys.ESCAPE);
    assertThat(text("#chart-slots .when")).isEqualTo("last 1 min");

    // A signal that does not end the process is sent at once.
    tabTo("[data-signal=USR1]");
    press(Keys.ENTER);
    waitFor(() -> text("#sent").equals("USR1 was accepted."));
    waitFor(() -> text("#journal").contains("SIGUSR1 came"));

    // What the signals mean for this host, which the catalog cannot know.
    assertThat(text("#about-USR1")).isEqualTo("For the program to use as it likes");
    assertThat(text("#about-USR2")).isEqualTo("Starts workers again");
    view.openCircuit();
    waitFor(() -> text("#circuit").equals("open"));
    assertThat(text("#banner")).contains("no more are started", "in belfry run by USR2");

    // A signal that ends the process must be confirmed; Escape and Cancel mean no.
    browser().executeScript("document.activeElement.blur()");
    tabTo("[data-signal=TERM]");
    press(Keys.ENTER);
    waitFor(() -> find("#confirm").isDisplayed());
    assertThat(text("#confirm")).contains("Send TERM to belltower?", "Ends in good order");
    browser().screenshot(PICTURES.resolve("dialog.png"));
    press(Keys.ESCAPE);
    waitFor(() -> !find("#confirm").isDisplayed());
    press(Keys.ENTER);
    waitFor(() -> find("#confirm").isDisplayed());
    assertThat(focused().getText()).isEqualTo("Cancel");
    press(Keys.ENTER);
    waitFor(() -> !find("#confirm").isDisplayed());
    assertThat(host().test.signals().isShuttingDown()).isFalse();

    press(Keys.ENTER);
    waitFor(() -> find("#confirm").isDisplayed());
    tabTo("#confirm input[name=reason]");
    press("end of the watch");
    tabTo("#confirm-send");
    press(Keys.ENTER);
    waitFor(() -> text("#sent").equals("TERM was accepted."));
    waitFor(() -> host().test.signals().isShuttingDown());
    waitFor(() -> text("#banner").startsWith("The host is ending"));
    mayEnd.countDown();
    waitFor(() -> host().test.exits().equals(List.of(143)));
    assertThat(host().test.records().stream().map(it -> it.text()))
        .anyMatch(it -> it.contains("end of the watch") && it.contains("http console:bearer"));
    assertNothingFromElsewhereAndNoComplaints();
  }

  private String curve(String chart) {
    return Objects.requireNonNull(find("#chart-" + chart + " .line").getDomAttribute("d"));
  }

  @Test
  void itIsReadableOnAPhoneInTheDarkAndWithoutMotion() throws Exception {
    view.kill(0);
    for (String scheme : List.of("light", "dark")) {
      browser().prefer("prefers-color-scheme", scheme);
      browser().size(360, 740);
      browser().get(address());
      if (scheme.equals("light")) {
        waitFor(() -> find("#login input[name=secret]").isDisplayed());
        assertNoSidewaysScrolling();
        browser().screenshot(PICTURES.resolve("login.png"));
        press(Transport.TOKEN, Keys.ENTER);
      }
      waitFor(() -> text("#host-name").equals(LivelyHost.NAME));
      assertNoSidewaysScrolling();
      browser().screenshot(PICTURES.resolve("phone-" + scheme + ".png"));
      String ground = find("body").getCssValue("background-color");
      assertThat(brightness(ground)).as(ground).matches(it -> scheme.equals("dark") == it < 60);
      assertThat(contrasts()).as(scheme).allMatch(it -> it >= 4.5);
      browser().size(1360, 820);
      browser().screenshot(PICTURES.resolve("desktop-" + scheme + ".png"));
      assertNoSidewaysScrolling();
    }
    browser().prefer("prefers-reduced-motion", "reduce");
    Object animation =
        browser()
            .executeScript(
                "return getComputedStyle(document.getElementById('link'),"
                    + " '::before').animationName");
    assertThat(animation).isEqualTo("none");
    assertNothingFromElsewhereAndNoComplaints();
  }

  /**
   * At common laptop widths the last columns of the workers used to be hidden behind the signals,
   * and "p50" was on a line of its own.
   */
  @Test
  void atEveryWidthAllOfItIsInItsPlace() {
    view.fill();
    signIn();
    waitFor(() -> text("#workers").contains("resize-pictures"));
    for (int width = 320; width <= 1400; width += 20) {
      browser().size(width, 900);
      assertNoSidewaysScrolling();
      assertThat(browser().executeScript(OUT_OF_PLACE)).as(width + " px").isEqualTo(List.of());
    }
  }

  private void assertNoSidewaysScrolling() {
    assertThat(
            browser()
                .executeScript(
                    "const page = document.documentElement;"
                        + "return page.scrollWidth - page.clientWidth"))
        .isEqualTo(0L);
  }

  private static double brightness(String rgb) {
    String[] parts = rgb.replaceAll("[^0-9,]", "").split(",", -1);
    return (Integer.parseInt(parts[0]) + Integer.parseInt(parts[1]) + Integer.parseInt(parts[2]))
        / 3.0;
  }

  /** Returns the contrast of each visible text with its background, as WCAG defines it. */
  private List<Double> contrasts() throws IOException {
    String script = Files.readString(Path.of("src/test/resources/dev/belfry/admin/contrasts.js"));
    var contrasts = new ArrayList<Double>();
    for (Object value : (List<?>) Objects.requireNonNull(browser().executeScript(script))) {
      contrasts.add(((Number) value).doubleValue());
    }
    assertThat(contrasts).hasSizeGreaterThan(50);
    return contrasts;
  }

  @Test
  void aWrongTokenAndTheEndOfASessionLeadToTheForm() throws Exception {
    load();
    press("abc…", Keys.ENTER); // used to be reported as a host that does not answer
    waitFor(() -> text("#login-error").equals("That is not a token."));
    press(Keys.chord(Keys.CONTROL, "a"), "wrong", Keys.ENTER);
    waitFor(() -> text("#login-error").equals("That is not it."));
    assertThat(browser().complaints()).singleElement().asString().contains("401");
    press(Keys.chord(Keys.CONTROL, "a"), Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").equals("Live"));
    browser().navigate().refresh();
    waitFor(() -> text("#link").equals("Live")); // the session cookie replaces the token
    host().advance(Sessions.LIFETIME);
    waitFor(() -> text("#login-error").startsWith("The session is over."));
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").equals("Live"));
    tabTo("#logout");
    press(Keys.ENTER);
    waitFor(() -> find("#login input[name=secret]").isDisplayed());
    assertThat(text("#login-error")).isEmpty();
    assertNothingFromElsewhereAndNoComplaints();
  }

  /** The dialog used to stay in front of the form, which could not be reached. */
  @Test
  void aQuestionThatIsOpenGoesWithItsSession() {
    signIn();
    tabTo("[data-signal=TERM]");
    press(Keys.ENTER);
    waitFor(() -> find("#confirm").isDisplayed());
    host().advance(Sessions.LIFETIME);
    waitFor(() -> text("#login-error").startsWith("The session is over."));
    assertThat(find("#confirm").isDisplayed()).isFalse();
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").equals("Live"));
    assertThat(host().test.signals().isShuttingDown()).isFalse();
  }

  /** Such a browser used to show the form again without a word. */
  @Test
  void whoeverKeepsNoCookieIsToldWhySigningInLeadsNowhere() throws Exception {
    browser().quit();
    started = Browser.startWithoutCookies();
    load();
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#login-error").contains("keeps no cookie"));
  }

  /** The charts of a live page used to stand still until the clock had caught up. */
  @Test
  void theChartsGoOnWhenTheClockOfTheHostWasSetBack() {
    load();
    Object shown =
        browser()
            .executeAsyncScript(
                """
                const done = arguments[0];
                import('/console/charts.js').then(({Charts}) => {
                  const place = document.createElement('div');
                  const charts = new Charts(place);
                  const add = (at, calls) => charts.add(at, {calls_per_second: calls, slots: 1});
                  charts.begin([[7_199_000, 10, 0, 0, 0, 0], [7_200_000, 20, 0, 0, 0, 0]]);
                  add(7_200_000, 20); // the state that comes with the history
                  add(3_600_000, 30);
                  add(3_601_000, 40);
                  done([
                    place.querySelector('#chart-calls .value').textContent,
                    place.querySelector('#chart-calls .line').getAttribute('d').match(/[ML]/g).join(''),
                  ]);
                }).catch(error => done(String(error)));
                """);
    assertThat(shown).isEqualTo(List.of("40", "ML"));
  }

  /** The journal goes back days, and a death of last week used to look like one of today. */
  @Test
  void aTimeOfAnotherDaySaysWhichDay() {
    load();
    Object shown =
        browser()
            .executeAsyncScript(
                """
                const done = arguments[0];
                import('/console/format.js')
                  .then(({clock}) => done([clock('2020-02-03T12:34:56Z'), clock(Date.now())]))
                  .catch(error => done(String(error)));
                """);
    assertThat((List<?>) shown)
        .satisfiesExactly(
            another -> assertThat((String) another).matches("[34] Feb ..:..:56"),
            today -> assertThat((String) today).matches("..:..:.."));
  }
}
