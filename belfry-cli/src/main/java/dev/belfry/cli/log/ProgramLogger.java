package dev.belfry.cli.log;

import java.text.MessageFormat;
import java.util.MissingResourceException;
import java.util.ResourceBundle;
import org.jspecify.annotations.Nullable;

/** A library's logger; see {@link ProgramLoggers}. */
final class ProgramLogger implements System.Logger {
  private final String name;

  ProgramLogger(String name) {
    this.name = name;
  }

  @Override
  public String getName() {
    return name;
  }

  @Override
  public boolean isLoggable(Level level) {
    return ServiceLog.isOpen()
        ? ServiceLog.isLoggable(name, level)
        : level != Level.OFF && level.compareTo(Level.WARNING) >= 0;
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String text,
      @Nullable Throwable thrown) {
    if (isLoggable(level)) {
      String message = translate(bundle, text);
      if (ServiceLog.isOpen()) {
        ServiceLog.log(name, level, message, thrown);
      } else {
        System.err.println("belfry: " + message + (thrown == null ? "" : ": " + thrown));
      }
    }
  }

  @Override
  public void log(
      Level level,
      @Nullable ResourceBundle bundle,
      @Nullable String format,
      @Nullable Object @Nullable ... values) {
    if (isLoggable(level)) {
      String message = translate(bundle, format);
      boolean plain = values == null || values.length == 0;
      log(level, null, plain ? message : fill(message, values), (Throwable) null);
    }
  }

  /** Formats a message. Logging must not break the code that logs. */
  private static String fill(String format, @Nullable Object @Nullable [] values) {
    try {
      return MessageFormat.format(format, values);
    } catch (IllegalArgumentException noFormat) {
      return format;
    }
  }

  private static String translate(@Nullable ResourceBundle bundle, @Nullable String text) {
    try {
      return bundle == null || text == null ? String.valueOf(text) : bundle.getString(text);
    } catch (MissingResourceException untranslated) {
      return String.valueOf(text);
    }
  }
}
