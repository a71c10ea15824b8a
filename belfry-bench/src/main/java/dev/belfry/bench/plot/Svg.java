package dev.belfry.bench.plot;

/** Writes an SVG document, element by element. */
final class Svg {
  private final StringBuilder text = new StringBuilder();

  Svg(int width, int height, String title, String style) {
    text.append(
        """
        <svg xmlns="http://www.w3.org/2000/svg" width="%1$d" height="%2$d" \
        viewBox="0 0 %1$d %2$d" role="img">
        <title>%3$s</title>
        <style>
        %4$s</style>
        """
            .formatted(width, height, escaped(title), style));
  }

  void rectangle(String style, int x, int y, int width, int height) {
    text.append(
        "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n"
            .formatted(style, x, y, width, height));
  }

  void line(String style, int x1, int y1, int x2, int y2) {
    text.append(
        "<line class=\"%s\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n"
            .formatted(style, x1, y1, x2, y2));
  }

  void text(String style, int x, int y, String words) {
    text.append(
        "<text class=\"%s\" x=\"%d\" y=\"%d\">%s</text>\n".formatted(style, x, y, escaped(words)));
  }

  /** The whole document. */
  String end() {
    return text + "</svg>\n";
  }

  private static String escaped(String words) {
    return words.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }
}
