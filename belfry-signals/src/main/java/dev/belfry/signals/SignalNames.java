package dev.belfry.signals;

/**
 * Parsing and matching of signal names, by the rules of ASCII: neither the locale nor letters and
 * digits of other scripts change a result.
 */
final class SignalNames {
  private SignalNames() {}

  static String upperCase(String text) {
    return text.codePoints()
        .map(c -> c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  static String lowerCase(String text) {
    return text.codePoints()
        .map(c -> c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c)
        .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
        .toString();
  }

  /** Parses a positive decimal number; 0 for anything else and for numbers beyond any signal's. */
  static int number(String text) {
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c < '0' || c > '9' || number > 1_000) {
        return 0;
      }
      number = number * 10 + (c - '0');
    }
    return number;
  }

  /**
   * Whether a glob matches a whole text: {@code *} stands for any run of characters, {@code ?} for
   * one. Backtracking to the last {@code *} is sufficient, which bounds the time by the product of
   * the two lengths.
   */
  static boolean matches(String glob, String text) {
    int g = 0;
    int t = 0;
    int lastStar = -1;
    int afterLastRun = 0;
    while (t < text.length()) {
      if (g < glob.length() && glob.charAt(g) == '*') {
        lastStar = g++;
        afterLastRun = t;
      } else if (g < glob.length() && (glob.charAt(g) == '?' || glob.charAt(g) == text.charAt(t))) {
        g++;
        t++;
      } else if (lastStar >= 0) {
        g = lastStar + 1;
        t = ++afterLastRun;
      } else {
        return false;
      }
    }
    while (g < glob.length() && glob.charAt(g) == '*') {
      g++;
    }
    return g == glob.length();
  }
}
