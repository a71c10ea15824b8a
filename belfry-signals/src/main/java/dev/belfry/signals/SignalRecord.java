package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A structured log record.
 *
 * @param level how important it is
 * @param event what happened, such as {@code signal.received}; the same for every such record
 * @param message the same for people
 * @param fields its details, in order
 * @param text all of it as one line of text; what would begin a new line is escaped
 * @param error what was thrown, for its stack trace, if that is what happened and it has one
 */
public record SignalRecord(
    Level level,
    String event,
    String message,
    Map<String, String> fields,
    String text,
    @Nullable Throwable error) {
  public SignalRecord {
    fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
    text = escape(text);
  }

  /**
   * The text is the message and the fields as {@code name=value}. Whatever comes from outside is
   * quoted, so that it cannot pass for another field.
   */
  public SignalRecord(Level level, String event, String message, Map<String, String> fields) {
    this(level, event, message, fields, textOf(message, fields), null);
  }

  /** The same record of something that was thrown. */
  SignalRecord withError(@Nullable Throwable thrown) {
    return new SignalRecord(level, event, message, fields, text, thrown);
  }

  private static String textOf(String message, Map<String, String> fields) {
    var text = new StringBuilder(message);
    fields.forEach((name, value) -> text.append(' ').append(name).append('=').append(quote(value)));
    return text.toString();
  }

  private static String quote(String value) {
    boolean plain =
        !value.isEmpty()
            && value
                .chars()
                .allMatch(c -> c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\');
    return plain ? value : '"' + value.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
  }

  private static String escape(String text) {
    var escaped = new StringBuilder();
    text.codePoints()
        .forEach(
            c -> {
              if (isHarmless(c)) {
                escaped.appendCodePoint(c);
              } else {
                escaped.append(String.format("\\u%04x", c));
              }
            });
    return escaped.toString();
  }

  /** Not control characters, line separators, and what reverses the direction of a text. */
  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c == '\t'; // as stack traces have it
      case Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
