package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/**
 * The console of a host in a real Chromium. Without Chromium the tests are skipped, unless {@code
 * BELFRY_BROWSER=required} is set in the environment.
 */
abstract class InBrowser {
  final LivelyHost view = new LivelyHost();
  final CountDownLatch mayEnd = new CountDownLatch(1);
  @Nullable Host opened;
  @Nullable Browser started;

  @BeforeEach
  void open() throws Exception {
    if (!Browser.isInstalled() && !"required".equals(System.getenv("BELFRY_BROWSER"))) {
      System.out.println(
          getClass().getSimpleName()
              + " did not run: there is no /usr/bin/chromium with its driver"
              + " (Debian: apt-get install chromium chromium-driver)");
      assumeThat(Browser.isInstalled()).isTrue();
    }
    opened = Host.open(Transport.PLAIN, view);
    opened.test.signals().handle("USR1", signal -> view.events.add("signal", signal + " came"));
    opened.test.signals().onShutdown("what takes its time", mayEnd::await);
    started = Browser.start();
  }

  @AfterEach
  void close() {
    mayEnd.countDown();
    if (started != null) {
      started.quit();
    }
    if (opened != null) {
      opened.close();
    }
  }

  final Browser browser() {
    return Objects.requireNonNull(started);
  }

  final Host host() {
    return Objects.requireNonNull(opened);
  }

  final String address() {
    return "http://localhost:" + host().port() + "/";
  }

  final void load() {
    browser().get(address());
    await().until(() -> find("#login input[name=secret]").isDisplayed());
  }

  final WebElement find(String selector) {
    return browser().findElement(By.cssSelector(selector));
  }

  final String text(String selector) {
    return find(selector).getText();
  }

  final WebElement focused() {
    return browser().switchTo().activeElement();
  }

  final void press(CharSequence... keys) {
    focused().sendKeys(keys);
  }

  /** Presses Tab until the element has the focus, and checks that the focus is visible. */
  final void tabTo(String selector) {
    WebElement wanted = find(selector);
    for (int i = 0; i < 60 && !focused().equals(wanted); i++) {
      press(Keys.TAB);
    }
    assertThat(focused()).as(selector + " by the keyboard").isEqualTo(wanted);
    assertThat(wanted.getCssValue("outline-style")).as("focus of " + selector).isEqualTo("solid");
    assertThat(wanted.getCssValue("outline-width")).isEqualTo("2px");
  }

  final void signIn() {
    load();
    press(Transport.TOKEN, Keys.ENTER);
    waitFor(() -> text("#link").equals("Live"));
    waitFor(() -> text("#host-name").equals(LivelyHost.NAME));
  }

  static void waitFor(Callable<Boolean> condition) {
    await().atMost(Duration.ofSeconds(30)).until(condition);
  }

  final void assertNothingFromElsewhereAndNoComplaints() {
    assertThat(browser().requested())
        .isNotEmpty()
        .allMatch(it -> it.startsWith(address()) || it.startsWith("data:"));
    assertThat(browser().complaints()).isEmpty();
  }
}
