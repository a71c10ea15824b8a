package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A structured log record.
 *
 * @param level how important it is
 * @param event what happened, such as {@code signal.received}; the same for every such record
 * @param message the same for people
 * @param fields its details, in order
 */
public record SignalRecord(Level level, String event, String message, Map<String, String> fields) {
  public SignalRecord {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
  }

  /**
   * One line of text: the message and the fields as {@code name=value}. Whatever comes from outside
   * is escaped, so that it can neither begin a new line nor pass for another field.
   */
  public String text() {
    var text = new StringBuilder(escape(message));
    fields.forEach((name, value) -> text.append(' ').append(name).append('=').append(quote(value)));
    return text.toString();
  }

  private static String quote(String value) {
    boolean plain =
        !value.isEmpty()
            && value
                .chars()
                .allMatch(c -> c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\');
    return plain ? value : '"' + escape(value.replace("\\", "\\\\").replace("\"", "\\\"")) + '"';
  }

  /** Control characters, line separators, and what reverses the direction of a text. */
  private static String escape(String text) {
    var escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              switch (Character.getType(c)) {
                case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE ->
                    escaped.append(String.format("\\u%04x", c));
                default -> escaped.appendCodePoint(c);
              }
            });
    return escaped.toString();
  }
}
