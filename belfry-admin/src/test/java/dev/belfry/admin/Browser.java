package dev.belfry.admin;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.logging.Level;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.openqa.selenium.Capabilities;
import org.openqa.selenium.ImmutableCapabilities;
import org.openqa.selenium.remote.CommandInfo;
import org.openqa.selenium.remote.HttpCommandExecutor;
import org.openqa.selenium.remote.RemoteWebDriver;
import org.openqa.selenium.remote.http.HttpMethod;

/**
 * The system's Chromium, without a window. It uses the system's driver, so nothing is downloaded.
 * Its profile is temporary.
 */
final class Browser extends RemoteWebDriver {
  private static final List<Path> CHROMIUM =
      List.of(Path.of("/usr/bin/chromium"), Path.of("/usr/bin/google-chrome"));
  private static final List<Path> DRIVER =
      List.of(Path.of("/usr/bin/chromedriver"), Path.of("/usr/lib/chromium/chromedriver"));
  private static final Pattern STARTED = Pattern.compile("started successfully on port (\\d+)");
  private static final String CDP = "executeCdpCommand";

  private final Process driver;

  private Browser(Process driver, URL server, Map<String, ?> preferences) {
    super(
        new HttpCommandExecutor(
            Map.of(CDP, new CommandInfo("/session/:sessionId/goog/cdp/execute", HttpMethod.POST)),
            server),
        capabilities(preferences));
    this.driver = driver;
  }

  /** Whether both Chromium and its driver are installed. */
  static boolean isInstalled() {
    return first(CHROMIUM).isPresent() && first(DRIVER).isPresent();
  }

  private static Optional<Path> first(List<Path> places) {
    return places.stream().filter(Files::isExecutable).findFirst();
  }

  static Browser start() throws IOException {
    return start(Map.of());
  }

  /** Starts a browser that accepts no cookies. */
  static Browser startWithoutCookies() throws IOException {
    return start(Map.of("profile.default_content_setting_values.cookies", 2)); // 2: blocked
  }

  private static Browser start(Map<String, ?> preferences) throws IOException {
    Process driver =
        new ProcessBuilder(first(DRIVER).orElseThrow().toString(), "--port=0")
            .redirectErrorStream(true)
            .start();
    try {
      URL server = URI.create("http://localhost:" + port(driver)).toURL();
      return new Browser(driver, server, preferences);
    } catch (RuntimeException | IOException e) {
      driver.destroyForcibly();
      throw e;
    }
  }

  private static String port(Process driver) throws IOException {
    BufferedReader output = driver.inputReader(StandardCharsets.UTF_8);
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      Matcher started = STARTED.matcher(line);
      if (started.find()) {
        return started.group(1);
      }
    }
    throw new IOException("chromedriver did not start");
  }

  private static Capabilities capabilities(Map<String, ?> preferences) {
    Map<String, Object> options =
        Map.of(
            "binary",
            first(CHROMIUM).orElseThrow().toString(),
            "args",
            List.of(
                "--headless=new",
                "--no-sandbox", // there is none for root, and it loads no page but ours
                "--disable-dev-shm-usage",
                "--hide-scrollbars", // so that a screenshot is as wide as the page
                "--disable-background-networking",
                "--disable-component-update",
                "--no-first-run"),
            "prefs",
            preferences);
    return new ImmutableCapabilities(
        Map.of(
            "browserName",
            "chrome",
            "acceptInsecureCerts",
            true,
            "goog:chromeOptions",
            options,
            "goog:loggingPrefs",
            Map.of("browser", Level.ALL.getName(), "performance", Level.ALL.getName())));
  }

  /** Sends a command of Chromium's DevTools protocol. */
  Map<?, ?> tell(String command, Map<String, ?> parameters) {
    return (Map<?, ?>)
        Objects.requireNonNull(
            execute(CDP, Map.of("cmd", command, "params", parameters)).getValue());
  }

  /** Sets the size of the page, whatever the screen. */
  void size(int width, int height) {
    tell(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
  }

  /** Sets a preference of the user, such as {@code prefers-color-scheme} to {@code dark}. */
  void prefer(String feature, String value) {
    tell(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", feature, "value", value))));
  }

  void screenshot(Path file) throws IOException {
    Map<?, ?> shot = tell("Page.captureScreenshot", Map.of("captureBeyondViewport", true));
    Files.createDirectories(Objects.requireNonNull(file.getParent()));
    Files.write(file, Base64.getDecoder().decode((String) shot.get("data")));
  }

  /** Returns what was written to the browser's console since the last call. */
  List<String> complaints() {
    return manage().logs().get("browser").getAll().stream().map(Object::toString).toList();
  }

  /** Returns the URLs requested since the last call. */
  List<String> requested() {
    return manage().logs().get("performance").getAll().stream()
        .flatMap(entry -> requested(entry.getMessage()))
        .toList();
  }

  private static Stream<String> requested(String event) {
    var message = tools.jackson.databind.json.JsonMapper.shared().readTree(event).get("message");
    return message.get("method").asString().equals("Network.requestWillBeSent")
        ? Stream.of(message.at("/params/request/url").asString())
        : Stream.empty();
  }

  @Override
  public void quit() {
    try {
      super.quit();
    } finally {
      driver.destroy();
    }
  }
}
