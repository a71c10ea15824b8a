package dev.belfry.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Each rule on the architecture finds the classes made to break it, and accepts the others. */
final class ArchitectureProblemsTest {
  @TempDir private Path directory;

  @Test
  void aLinkerOutsideOfLinux() throws IOException {
    String body = "Object a = java.lang.foreign.Linker.nativeLinker();";
    assertThat(broken(Architecture.LINKER, type("loop", body))).contains("dev.belfry.loop.T");
    assertThat(broken(Architecture.LINKER, type("linux", body))).isEmpty();
  }

  @Test
  void aSymbolLookupOutsideOfLinux() throws IOException {
    String body = "java.lang.foreign.SymbolLookup a;";
    assertThat(broken(Architecture.LINKER, type("shm", body))).contains("dev.belfry.shm.T");
    assertThat(broken(Architecture.LINKER, type("shm", "java.lang.foreign.MemorySegment a;")))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '"',
      value = {
        "Object a = java.lang.foreign.MemorySegment.NULL.reinterpret(8)",
        "java.util.function.LongFunction<?> a = java.lang.foreign.MemorySegment.NULL::reinterpret",
        "Object a = java.lang.foreign.ValueLayout.ADDRESS.withTargetLayout("
            + "java.lang.foreign.ValueLayout.JAVA_INT)",
        "{ System.loadLibrary(null)",
      })
  void aRestrictedMethodOutsideOfLinux(String statement) throws IOException {
    String body = statement.startsWith("{") ? statement + "; }" : statement + ";";
    assertThat(broken(Architecture.RESTRICTED, type("shm", body))).contains("dev.belfry.shm.T");
    assertThat(broken(Architecture.RESTRICTED, type("linux", body))).isEmpty();
  }

  @Test
  void aNativeMethod() throws IOException {
    assertThat(broken(Architecture.NO_JNI, type("linux", "native void a();"))).contains("T.a()");
  }

  @ParameterizedTest
  @CsvSource({
    "linux, loop",
    "loop, shm",
    "loop, signals",
    "shm, workers",
    "workers, gateway",
    "workers, signals",
    "gateway, admin",
    "gateway, signals",
    "signals, linux",
    "signals, loop",
    "signals, signals.linux",
    "signals.linux, shm",
    "admin, linux",
    "admin, gateway",
    "cli, signals.linux",
    "linux, testkit",
    "cli, testkit",
    "cli, bench",
    "workers, examples",
    "signals, stress",
  })
  void anArrowThatIsNotDrawn(String user, String used) {
    assertThat(room(user).mayUse(room(used))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "loop, linux",
    "shm, linux",
    "workers, shm",
    "gateway, loop",
    "signals.linux, signals",
    "signals.linux, linux",
    "admin, signals",
    "cli, gateway",
    "cli, admin",
    "cli, linux",
    "loop.internal, loop",
    "testkit, linux",
    "bench, signals.linux",
    "examples, testkit",
    "stress, workers",
  })
  void anArrowThatIsDrawn(String user, String used) {
    assertThat(room(user).mayUse(room(used))).isTrue();
  }

  private static Room room(String name) {
    return Room.of("dev.belfry." + name).orElseThrow();
  }

  @ParameterizedTest
  @CsvSource({"loop, shm", "signals, signals.linux", "cli, testkit", "testkit, attic"})
  void aClassThatUsesWhatItsRoomMayNot(String user, String used) throws IOException {
    Source other = type(used);
    String type = "dev.belfry." + used + ".T";
    assertThat(broken(Architecture.ARROWS, type(user, type + "[] a;"), other))
        .contains("dev.belfry." + user + ".T", type);
    assertThat(broken(Architecture.ARROWS, type(user, "Object a = new " + type + "();"), other))
        .contains("dev.belfry." + user + ".T", type);
  }

  @Test
  void aClassThatUsesWhatItsRoomMay() throws IOException {
    Source user = type("signals.linux", "dev.belfry.signals.T a; dev.belfry.loop.T b;");
    assertThat(broken(Architecture.ARROWS, user, type("signals"), type("loop"))).isEmpty();
  }

  @Test
  void aClassInNoRoom() throws IOException {
    assertThat(broken(Architecture.ARROWS, type("attic"))).contains("belongs to no room");
    assertThat(broken(Architecture.ARROWS, type("linuxish"))).contains("belongs to no room");
  }

  @Test
  void aLibraryInLoop() throws IOException {
    String body = "org.junit.jupiter.api.Test a;";
    assertThat(broken(Architecture.JDK_ALONE, type("loop", body))).contains("dev.belfry.loop.T");
    assertThat(
            broken(
                Architecture.JDK_ALONE,
                type("loop", "@org.jspecify.annotations.Nullable String a; int[] b;")))
        .isEmpty();
  }

  @Test
  void aPackageThatIsNotNullMarked() throws IOException {
    assertThat(broken(Architecture.NULL_MARKED, type("shm"))).contains("lacks @NullMarked");
    String marked = "@org.jspecify.annotations.NullMarked package dev.belfry.shm;";
    assertThat(
            broken(
                Architecture.NULL_MARKED,
                new Source("dev/belfry/shm/package-info.java", marked),
                type("shm")))
        .isEmpty();
  }

  @ParameterizedTest
  @CsvSource({"System.exit(0)", "Runtime.getRuntime().exit(0)", "Runtime.getRuntime().halt(0)"})
  void anExitInALibrary(String exit) throws IOException {
    String body = "void a() { " + exit + "; }";
    String main = body + " public static void main(String[] arguments) {}";
    assertThat(broken(Architecture.EXITS, type("workers", main))).contains("T.a()");
    assertThat(broken(Architecture.EXITS, type("signals", main))).contains("T.a()");
    assertThat(broken(Architecture.EXITS, type("bench", body))).contains("T.a()");
    assertThat(broken(Architecture.EXITS, type("bench", main))).isEmpty();
    assertThat(broken(Architecture.EXITS, type("cli", body))).isEmpty();
    String port = "package dev.belfry.signals; class ExitPort { " + body + " }";
    assertThat(broken(Architecture.EXITS, new Source("dev/belfry/signals/ExitPort.java", port)))
        .isEmpty();
  }

  @Test
  void javaUtilLogging() throws IOException {
    assertThat(broken(Architecture.LOGGING, type("admin", "java.util.logging.Level a;")))
        .contains("dev.belfry.admin.T");
    assertThat(broken(Architecture.LOGGING, type("admin", "System.Logger a;"))).isEmpty();
  }

  @Test
  void aCopyOfOptionsThatLooksLikeAChange() throws IOException {
    String record = "record AOptions(int a) { AOptions %s(int b) { return new AOptions(b); } }";
    assertThat(broken(Architecture.OPTIONS, type("loop", record.formatted("a"))))
        .contains("AOptions.a(int)");
    assertThat(broken(Architecture.OPTIONS, type("loop", record.formatted("with"))))
        .contains("AOptions.with(int)");
    assertThat(broken(Architecture.OPTIONS, type("loop", record.formatted("withA")))).isEmpty();
    String builder = "static class AOptions { AOptions a(int b) { return this; } }";
    assertThat(broken(Architecture.OPTIONS, type("loop", builder))).isEmpty();
  }

  @Test
  void aModuleWithoutDescriptor() throws IOException {
    for (String module : List.of("belfry-attic", "belfry-bench", "belfry-shm")) {
      Files.createDirectories(directory.resolve(module));
      Files.createFile(directory.resolve(module).resolve("pom.xml"));
    }
    assertThat(Architecture.moduleProblems(new Project(directory)))
        .containsExactly(
            "belfry-attic belongs to no room; draw it in class Room",
            "belfry-shm has no src/main/java/module-info.java");
  }

  private record Source(String file, String text) {}

  /** Returns the source of a class T in a package of the project. */
  private static Source type(String name, String body) {
    String text = "package dev.belfry." + name + "; public class T { " + body + " }";
    return new Source("dev/belfry/" + name.replace('.', '/') + "/T.java", text);
  }

  private static Source type(String name) {
    return type(name, "");
  }

  /** Compiles the sources and returns how they break the rule; empty if they do not. */
  private String broken(ArchRule rule, Source... sources) throws IOException {
    Path classes = Files.createTempDirectory(directory, "classes");
    var arguments = new ArrayList<>(List.of("-proc:none", "-d", classes.toString()));
    arguments.addAll(List.of("-cp", System.getProperty("java.class.path", "")));
    for (Source source : sources) {
      Path file = classes.resolve("src").resolve(source.file());
      Files.createDirectories(file.resolveSibling("."));
      Files.writeString(file, source.text());
      arguments.add(file.toString());
    }
    int failed =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, arguments.toArray(String[]::new));
    assertThat(failed).as("the sources compile").isZero();
    var result = rule.allowEmptyShould(true).evaluate(new ClassFileImporter().importPath(classes));
    return result.hasViolation() ? result.getFailureReport().toString() : "";
  }
}
