package dev.belfry.workers;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class JavaWorkerTest {
  private static List<String> classPath(JavaWorker worker) {
    List<String> command = worker.command();
    return List.of(command.get(command.indexOf("-cp") + 1).split(":", -1));
  }

  private static String here(String path) {
    return Path.of("").toAbsolutePath().resolve(path).toString();
  }

  private static List<String> withProperty(String name, String value, JavaWorker worker) {
    String before = System.getProperty(name);
    System.setProperty(name, value);
    try {
      return classPath(worker);
    } finally {
      if (before == null) {
        System.clearProperty(name);
      } else {
        System.setProperty(name, before);
      }
    }
  }

  /** A worker in another directory used to resolve them against its own. */
  @Test
  void whatAProgramNamesIsWhereTheProgramRuns() {
    JavaWorker worker =
        JavaWorker.of("Main")
            .withClassPath(List.of("first.jar:lib/second.jar", "lib/*", "/absolute.jar"))
            .withCrashDirectory(Path.of("crashes"));
    assertThat(classPath(worker))
        .startsWith(here("first.jar"), here("lib/second.jar"), here("lib/*"), "/absolute.jar");
    assertThat(worker.command()).contains("-XX:ErrorFile=" + here("crashes/hs_err_pid%p.log"));
  }

  /** As for the JVM itself, and as {@code $CLASSPATH:more.jar} produces it. */
  @Test
  void anEmptyPartOfAClassPathIsTheDirectoryOfTheProgram() {
    assertThat(withProperty("java.class.path", ":more.jar", JavaWorker.of("Main")))
        .startsWith(Path.of("").toAbsolutePath().toString(), here("more.jar"));
  }

  /** Only the directories used to be on its class path, and those contain no classes. */
  @Test
  void modulesInADirectoryOfTheModulePathAreFound(@TempDir Path directory) throws IOException {
    Path jar = directory.resolve("resizer.jar");
    new JarOutputStream(Files.newOutputStream(jar), new Manifest()).close();
    Path exploded = Files.createDirectory(directory.resolve("exploded"));
    compileModule("exploded", exploded);
    assertThat(withProperty("jdk.module.path", directory.toString(), JavaWorker.of("Main")))
        .contains(jar.toString(), exploded.toString());
    assertThat(withProperty("jdk.module.path", jar + ":" + exploded, JavaWorker.of("Main")))
        .endsWith(jar.toString(), exploded.toString());
  }

  private static void compileModule(String name, Path directory) throws IOException {
    Path source = directory.resolve("module-info.java");
    Files.writeString(source, "module %s {}".formatted(name));
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, "-d", directory.toString(), source.toString()))
        .isZero();
  }
}
