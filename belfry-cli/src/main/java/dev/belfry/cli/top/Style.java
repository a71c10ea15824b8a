package dev.belfry.cli.top;

/** The style of a piece of text, where colours are used. */
enum Style {
  PLAIN(""),
  BOLD("1"),
  DIM("2"),
  TITLE("1;7"),
  GOOD("32"),
  QUIET("36"),
  WATCH("33"),
  BAD("1;31"),
  ALARM("1;97;41");

  private final String code;

  Style(String code) {
    this.code = code;
  }

  String apply(String text) {
    return this == PLAIN || text.isEmpty() ? text : "\033[" + code + "m" + text + "\033[0m";
  }
}
