package dev.belfry.cli.top;

/** Builds a line of text from pieces and cuts it off at the terminal's width. */
final class Line {
  private final Look look;
  private final StringBuilder text = new StringBuilder();
  private int length;

  Line(Look look) {
    this.look = look;
  }

  Line add(String piece) {
    return add(piece, Style.PLAIN);
  }

  Line add(String piece, Style style) {
    String shown = printable(piece);
    shown = shown.substring(0, Math.min(shown.length(), look.columns() - length));
    text.append(look.colour() ? style.apply(shown) : shown);
    length += shown.length();
    return this;
  }

  /** Pads with spaces up to a column. */
  Line to(int column) {
    return add(" ".repeat(Math.max(0, column - length)));
  }

  /** Puts a piece at the right end if it fits. */
  Line right(String piece, Style style) {
    int column = look.columns() - piece.length();
    return column > length ? to(column).add(piece, style) : this;
  }

  /** Replaces control characters, which names may contain and a terminal would obey. */
  private static String printable(String piece) {
    return piece.chars().noneMatch(Character::isISOControl)
        ? piece
        : piece.replaceAll("\\p{Cc}", "?");
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
