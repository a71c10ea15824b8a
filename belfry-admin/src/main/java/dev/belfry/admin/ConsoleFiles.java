package dev.belfry.admin;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The console's page and its parts, which are public. */
final class ConsoleFiles {
  private static final String PAGE = "index.html";
  private static final List<String> PARTS =
      List.of(
          "page.css",
          "icon.svg",
          "main.js",
          "session.js",
          "stream.js",
          "charts.js",
          "workers.js",
          "signals.js",
          "journal.js",
          "format.js");

  /** The contents by path. */
  private static final Map<String, String> TEXTS = load();

  private ConsoleFiles() {}

  static boolean has(String path) {
    return TEXTS.containsKey(path);
  }

  static Answer answer(String path, String correlationId) {
    String type =
        switch (path.substring(path.lastIndexOf('.') + 1)) {
          case "css" -> "text/css";
          case "js" -> "text/javascript";
          case "svg" -> "image/svg+xml";
          default -> "text/html";
        };
    return Answer.text(type + "; charset=utf-8", TEXTS.getOrDefault(path, ""), correlationId);
  }

  private static Map<String, String> load() {
    var texts = new HashMap<String, String>();
    texts.put("/", BundledText.read("console/" + PAGE));
    PARTS.forEach(part -> texts.put("/console/" + part, BundledText.read("console/" + part)));
    return Map.copyOf(texts);
  }
}
