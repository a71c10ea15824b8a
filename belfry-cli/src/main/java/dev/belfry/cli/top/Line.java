package dev.belfry.cli.top;

/** A line of text, put together from pieces, that ends where the terminal does. */
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

  /** Fills up with spaces. */
  Line to(int column) {
    return add(" ".repeat(Math.max(0, column - length)));
  }

  /** Puts a piece at the right end, if there is room for it. */
  Line right(String piece, Style style) {
    int column = look.columns() - piece.length();
    return column > length ? to(column).add(piece, style) : this;
  }

  /** A name may be anything, and a terminal obeys control characters. */
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
