package dev.belfry.linux;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.Locale;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Signal numbers of Linux on x86-64 and aarch64 ({@code signal(7)}). */
public final class Signo {
  public static final int HUP = 1;
  public static final int INT = 2;
  public static final int QUIT = 3;
  public static final int ILL = 4;
  public static final int TRAP = 5;
  public static final int ABRT = 6;
  public static final int BUS = 7;
  public static final int FPE = 8;
  public static final int KILL = 9;
  public static final int USR1 = 10;
  public static final int SEGV = 11;
  public static final int USR2 = 12;
  public static final int PIPE = 13;
  public static final int ALRM = 14;
  public static final int TERM = 15;
  public static final int STKFLT = 16;
  public static final int CHLD = 17;
  public static final int CONT = 18;
  public static final int STOP = 19;
  public static final int TSTP = 20;
  public static final int TTIN = 21;
  public static final int TTOU = 22;
  public static final int URG = 23;
  public static final int XCPU = 24;
  public static final int XFSZ = 25;
  public static final int VTALRM = 26;
  public static final int PROF = 27;
  public static final int WINCH = 28;
  public static final int IO = 29;
  public static final int PWR = 30;
  public static final int SYS = 31;

  /** The first realtime signal for programs; the C library reserves 32 and 33. */
  public static final int RTMIN = 34;

  /** The last signal. */
  public static final int RTMAX = 64;

  private static final @Nullable String[] NAMES = names();

  private static final Pattern NUMBER_OR_OFFSET =
      Pattern.compile("(?<base>RTMIN\\+|RTMAX-|)(?<digits>[0-9]{1,2})");

  private Signo() {}

  /**
   * The name of a signal, such as {@code SIGTERM} or {@code SIGRTMIN+6}, or {@code signal 99} for
   * an invalid number.
   */
  public static String name(int signal) {
    if (signal > RTMIN && signal < RTMAX) {
      return "SIGRTMIN+" + (signal - RTMIN);
    }
    String name = signal > 0 && signal <= RTMAX ? NAMES[signal] : null;
    return name != null ? "SIG" + name : "signal " + signal;
  }

  /**
   * The number of a signal written as {@code TERM}, {@code sigterm}, {@code 15}, {@code RTMIN+6} or
   * {@code SIGRTMAX-1}; empty if the text names no signal.
   */
  public static OptionalInt parse(String text) {
    String name = text.toUpperCase(Locale.ROOT);
    name = name.startsWith("SIG") ? name.substring("SIG".length()) : name;
    Matcher matcher = NUMBER_OR_OFFSET.matcher(name);
    int number;
    if (matcher.matches()) {
      int digits = Integer.parseInt(matcher.group("digits"));
      number =
          switch (matcher.group("base")) {
            case "RTMIN+" -> RTMIN + digits;
            case "RTMAX-" -> RTMAX - digits;
            default -> digits;
          };
    } else {
      number = Arrays.asList(NAMES).indexOf(name);
    }
    return number > 0 && number <= RTMAX ? OptionalInt.of(number) : OptionalInt.empty();
  }

  private static @Nullable String[] names() {
    var names = new @Nullable String[RTMAX + 1];
    try {
      for (Field field : Signo.class.getDeclaredFields()) {
        if (Modifier.isPublic(field.getModifiers())) {
          names[field.getInt(null)] = field.getName();
        }
      }
    } catch (IllegalAccessException e) {
      throw new AssertionError("public fields of this very class", e);
    }
    return names;
  }
}
