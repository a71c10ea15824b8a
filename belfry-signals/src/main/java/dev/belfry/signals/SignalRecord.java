package dev.belfry.signals;

import java.lang.System.Logger.Level;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A structured log record.
 *
 * @param level its severity
 * @param event what happened, such as {@code signal.received}; a fixed identifier
 * @param message what happened, for people
 * @param fields its details, in order
 * @param text the whole record as one line of text; control characters and line separators are
 *     escaped
 * @param error the exception behind the record, for its stack trace, if there is one
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
   * A record whose text is the message followed by the fields as {@code name=value}. Any value that
   * is not plain text is quoted, so that outside input cannot pass for another field.
   */
  public SignalRecord(Level level, String event, String message, Map<String, String> fields) {
    this(level, event, message, fields, textOf(message, fields), null);
  }

  /** A copy of this record with an exception. */
  SignalRecord withError(@Nullable Throwable thrown) {
    return new SignalRecord(level, event, message, fields, text, thrown);
  }

  private static String textOf(String message, Map<String, String> fields) {
    var text = new StringBuilder(message);
    fields.forEach((name, value) -> text.append(' ').append(name).append('=').append(quote(value)));
    return text.toString();
  }

  /** The text of an exception, or its class name if its {@code toString} itself throws. */
  public static String textOf(Throwable error) {
    try {
      return "" + error;
    } catch (Throwable another) {
      return error.getClass().getName();
    }
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

  /**
   * False for control characters except tab, line separators, format characters such as
   * bidirectional overrides, and lone surrogates.
   */
  private static boolean isHarmless(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL -> c == '\t'; // stack traces contain tabs
      case Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
