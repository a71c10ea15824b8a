package dev.belfry.cli.house;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Code that a document shows and a source holds. In the document a comment before the code block
 * names the file and a region of it:
 *
 * <pre>{@code <!-- include: path/to/Source.java#region -->}</pre>
 *
 * and in the source the region stands between {@code // @start region="region"} and {@code
 * // @end}.
 */
final class Includes {
  private static final Pattern INCLUDE =
      Pattern.compile("<!-- include: (\\S+)#(\\S+) -->\n```(?:java|c)\n(.*?)```", Pattern.DOTALL);

  private Includes() {}

  /** A code block of a document, and the source's text that it should equal. */
  record Include(String source, String shown, String real) {}

  static List<Include> of(Project project, String document) throws IOException {
    var includes = new ArrayList<Include>();
    Matcher matcher = INCLUDE.matcher(project.text(document));
    while (matcher.find()) {
      String source = matcher.group(1) + "#" + matcher.group(2);
      String real = region(project.text(matcher.group(1)), matcher.group(2), source);
      includes.add(new Include(source, matcher.group(3), real));
    }
    return includes;
  }

  private static String region(String text, String name, String source) {
    Matcher matcher =
        Pattern.compile("// @start region=\"" + name + "\"\n(.*?)\n *// @end", Pattern.DOTALL)
            .matcher(text);
    if (!matcher.find()) {
      throw new AssertionError("there is no region " + source);
    }
    return matcher.group(1).stripTrailing().stripIndent() + "\n";
  }
}
