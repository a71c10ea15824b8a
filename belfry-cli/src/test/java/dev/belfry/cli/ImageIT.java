package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the Containerfile puts into the image runs without the rest of the project. */
class ImageIT {
  private static final Path PROJECT = Path.of(System.getProperty("belfry.root"));
  private static final Path DEPLOY = PROJECT.resolve("deploy");

  @TempDir private Path root;

  /** Returns the arguments of each instruction of that name. */
  private static List<String[]> instructions(String name) throws IOException {
    return Files.readAllLines(DEPLOY.resolve("Containerfile")).stream()
        .filter(line -> line.startsWith(name + " "))
        .map(line -> line.substring(name.length() + 1).split(" ", -1))
        .toList();
  }

  private static String only(String name) throws IOException {
    List<String[]> found = instructions(name);
    assertThat(found).hasSize(1);
    return String.join(" ", found.getFirst());
  }

  private static String program() throws IOException {
    return only("ENTRYPOINT").replaceAll("[\\[\\]\"]", "");
  }

  private Path inImage(String path) {
    return root.resolve(path.substring(1));
  }

  @Test
  void theProgramIsCompleteInTheImage() throws Exception {
    for (String[] words : instructions("COPY")) {
      Path directory = Files.createDirectories(inImage(words[1]));
      Path file = PROJECT.resolve(words[0]);
      Files.copy(file, directory.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
    }
    Program.Start start =
        Program.of(inImage(program()), "doctor").without("BELFRY_NO_BUILD").in(root);
    for (String variable : only("ENV").split(" ", -1)) {
      start.with(variable.replaceFirst("=.*", ""), variable.replaceFirst(".*=", ""));
    }
    Program.Result result = start.run();
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).contains("Everything that Belfry needs is there.");
    assertThat(result.exitCode()).isZero();
  }

  @Test
  void whatIsCopiedIsNotLeftOut() throws Exception {
    List<String> copied = instructions("COPY").stream().map(words -> "!" + words[0]).toList();
    assertThat(Files.readAllLines(DEPLOY.resolve("Containerfile.dockerignore")))
        .startsWith("*")
        .endsWith(copied.toArray(new String[0]));
  }

  @Test
  void kubernetesRunsThisImageAsItsUser() throws Exception {
    assertThat(DEPLOY.resolve("kubernetes.yaml"))
        .content()
        .contains("runAsUser: " + only("USER"))
        .contains("command: [" + program() + ", run,")
        .contains("image: belfry:0.1.0");
    assertThat(DEPLOY.resolve("Containerfile")).content().contains("-t belfry:0.1.0 ");
  }
}
