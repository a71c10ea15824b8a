import com.google.googlejavaformat.java.Formatter;
import com.google.googlejavaformat.java.FormatterException;
import com.google.googlejavaformat.java.ImportOrderer;
import com.google.googlejavaformat.java.JavaFormatterOptions.Style;
import com.google.googlejavaformat.java.RemoveUnusedImports;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * Checks or fixes the layout of every Java source; run by the build with {@code check} or {@code
 * fix}.
 */
final class Format {
  private Format() {}

  public static void main(String[] args) throws Exception {
    boolean fix =
        switch (args.length == 1 ? args[0] : "") {
          case "check" -> false;
          case "fix" -> true;
          default -> throw new IllegalArgumentException("say check or fix");
        };
    var formatter = new Formatter();
    int wrong = 0;
    for (Path file : sources()) {
      String source = Files.readString(file);
      String formatted = format(formatter, file, source);
      if (!formatted.equals(source)) {
        wrong++;
        System.out.println((fix ? "formatted " : "not formatted: ") + file);
        if (fix && !formatted.isEmpty()) {
          Files.writeString(file, formatted);
        }
      }
    }
    if (wrong > 0 && !fix) {
      System.out.println("Format them with: mvn -N -q -Dformat=fix validate");
      System.exit(1);
    }
  }

  private static String format(Formatter formatter, Path file, String source) {
    try {
      String used = RemoveUnusedImports.removeUnusedImports(source);
      return formatter.formatSource(ImportOrderer.reorderImports(used, Style.GOOGLE));
    } catch (FormatterException unparsable) {
      System.out.println(file + ":" + unparsable.getMessage());
      return ""; // counts as not formatted
    }
  }

  private static List<Path> sources() throws Exception {
    Path root = Path.of("");
    try (Stream<Path> files = Files.walk(root)) {
      return files
          .filter(file -> file.toString().endsWith(".java"))
          .filter(file -> !file.toString().contains("target/"))
          .sorted()
          .toList();
    }
  }
}
