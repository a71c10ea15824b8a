package dev.belfry.cli.house;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.gateway.GatewayError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The documents are true. */
final class DocumentsTest {
  private static final String EXAMPLE =
      "belfry-cli/src/test/java/dev/belfry/cli/house/ReadmeExample.java";
  private static final Pattern LINK = Pattern.compile("]\\(([^)#:]+)(#[^)]*)?\\)");

  @Test
  void theFirstExampleOfSystemCallsIsCompiled() throws IOException {
    Project project = Project.current();
    String region =
        project
            .text(EXAMPLE)
            .replaceFirst("(?s).*// @start[^\n]*\n", "")
            .replaceFirst("(?s)\n *// @end.*", "")
            .stripIndent();
    assertThat(region.lines()).hasSizeBetween(5, 15);
    assertThat(project.text("docs/linux.md")).contains("```java\n" + region + "\n```\n");
  }

  @Test
  void theExampleRuns() throws IOException {
    var output = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(output, true, UTF_8));
    try {
      ReadmeExample.run();
    } finally {
      System.setOut(before);
    }
    assertThat(output.toString(UTF_8)).isEqualTo("token 7 rang 1 time(s)\n");
  }

  static List<String> documents() throws IOException {
    Path root = Project.current().root();
    try (Stream<Path> files = Files.walk(root.resolve("docs"))) {
      return Stream.concat(
              Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "guests/c/README.md"),
              files
                  .filter(it -> it.toString().endsWith(".md"))
                  .map(root::relativize)
                  .map(Path::toString))
          .toList();
    }
  }

  @ParameterizedTest
  @MethodSource("documents")
  void linksLeadToFilesThatExist(String document) throws IOException {
    Project project = Project.current();
    Path directory = project.root().resolve(document).resolveSibling(".");
    List<String> links =
        LINK.matcher(project.text(document)).results().map((MatchResult m) -> m.group(1)).toList();
    assertThat(links).allSatisfy(link -> assertThat(directory.resolve(link)).exists());
  }

  static List<String> documentsWithCode() throws IOException {
    Project project = Project.current();
    var found = new ArrayList<String>();
    for (String document : documents()) {
      if (project.text(document).contains("<!-- include:")) {
        found.add(document);
      }
    }
    return found;
  }

  // r[verify signals.docs.cross]
  // r[verify signals.docs.usage]
  @ParameterizedTest
  @MethodSource("documentsWithCode")
  void documentsShowTheCodeThatIsCompiled(String document) throws IOException {
    List<Includes.Include> includes = Includes.of(Project.current(), document);
    assertThat(includes)
        .isNotEmpty()
        .allSatisfy(
            include -> assertThat(include.shown()).as(include.source()).isEqualTo(include.real()));
  }

  /** A user who searches for a message finds what the program really prints. */
  @Test
  void theQuestionsQuoteMessagesThatExist() throws IOException {
    Project project = Project.current();
    List<String> quoted =
        Pattern.compile("(?m)^\\*\\*`([^`]+)`\\.\\*\\*")
            .matcher(project.text("docs/faq.md"))
            .results()
            .map(it -> it.group(1))
            .filter(it -> !it.startsWith("WARNING: ")) // the JVM's own
            .toList();
    assertThat(quoted).hasSizeGreaterThan(8);
    String sources = mainSources(project);
    assertThat(quoted).allSatisfy(message -> assertThat(sources).contains(message));
  }

  @Test
  void theGatewaysDocumentNamesEveryError() throws IOException {
    String document = Project.current().text("docs/gateway.md");
    assertThat(GatewayError.values())
        .allSatisfy(it -> assertThat(document).contains("`" + it.word() + "`"));
  }

  private static String mainSources(Project project) throws IOException {
    var text = new StringBuilder(project.text("belfry"));
    for (Path file : project.textFiles()) {
      if (file.toString().contains("src/main/")) {
        text.append(project.text(file.toString()));
      }
    }
    return text.toString();
  }

  // r[verify signals.docs.unix]
  // r[verify signals.docs.windows]
  @Test
  void theReadmeTellsHowToOperateAService() throws IOException {
    assertThat(Project.current().text("README.md"))
        .contains("kill -HUP", "kill -TERM", "kill -USR1")
        .contains("Invoke-WebRequest", "/admin/signal", "CTRL_CLOSE_EVENT", "Ctrl+C")
        .contains("`Stop-Process` ends it outright, without any cleanup");
  }

  // r[verify signals.docs.windows-ops]
  // r[verify signals.test.windows-manual]
  @Test
  void operatingAndCheckingOnWindowsAreWrittenDown() throws IOException {
    Project project = Project.current();
    assertThat(project.lines("docs/windows.md"))
        .contains("## Start", "## Stop", "## Reload", "## Diagnosis");
    assertThat(project.text("docs/releasing.md"))
        .contains("## The check on Windows", "for every release", "exit code 129", "Ctrl+C twice");
  }

  @Test
  void theReadmeAndContributingNameTheModules() throws IOException {
    Project project = Project.current();
    for (Path module : project.modules()) {
      String name = "`" + module.getFileName() + "`";
      assertThat(project.text("README.md")).contains(name);
      assertThat(project.text("CONTRIBUTING.md")).contains(name);
    }
  }

  @Test
  void theLicenseIsApache2() throws IOException {
    assertThat(Files.readString(Project.current().root().resolve("LICENSE")))
        .contains("Apache License")
        .contains("Version 2.0, January 2004")
        .contains("END OF TERMS AND CONDITIONS");
  }
}
