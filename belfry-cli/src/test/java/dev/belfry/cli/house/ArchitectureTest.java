package dev.belfry.cli.house;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Predicate;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** Checks the classes of all modules. This module is compiled last; see its pom. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ArchitectureTest {
  private final Map<String, JavaClasses> classesOfModules = new TreeMap<>();
  private JavaClasses classes = new ClassFileImporter().importLocations(List.<Location>of());

  @BeforeAll
  void importClasses() throws IOException {
    var directories = new TreeMap<String, Path>();
    for (Path module : Project.current().modules()) {
      Path directory = module.resolve("target/classes");
      if (Files.isDirectory(directory)) {
        directories.put(String.valueOf(module.getFileName()), directory);
      }
    }
    classes = new ClassFileImporter().importPaths(directories.values());
    directories.forEach(
        (module, directory) ->
            classesOfModules.put(module, classes.that(describe("lie there", liesIn(directory)))));
  }

  private static Predicate<JavaClass> liesIn(Path directory) {
    String place = directory.toUri().toString();
    return type ->
        type.getSource().map(source -> source.getUri().toString().startsWith(place)).orElse(false);
  }

  @Test
  void allModulesAreSeen() {
    assertThat(classesOfModules).containsKeys("belfry-linux", "belfry-testkit", "belfry-cli");
    assertThat(classes.contain("dev.belfry.linux.Sys")).isTrue();
  }

  @Test
  void eachModuleHoldsOnePackageRoot() {
    classesOfModules.forEach(
        (module, found) ->
            assertThat(found)
                .allSatisfy(
                    type ->
                        assertThat(Room.of(type.getPackageName()).map(Room::module))
                            .as(type.getName())
                            .contains(module)));
  }

  @Test
  void everyModuleHasADescriptor() throws IOException {
    assertThat(Architecture.moduleProblems(Project.current())).isEmpty();
  }

  @Test
  void onlyLinuxUsesTheForeignLinker() {
    Architecture.LINKER.check(classes);
  }

  @Test
  void onlyLinuxUsesRestrictedMethods() {
    Architecture.RESTRICTED.check(classes);
  }

  @Test
  void nothingIsNative() {
    Architecture.NO_JNI.check(classes);
  }

  // r[verify signals.deps.no-upward]
  // r[verify signals.deps.config-may-import]
  @Test
  void signalsUseNoOtherRoomButOthersMayUseThem() {
    assertThat(Room.values())
        .allSatisfy(room -> assertThat(Room.SIGNALS.mayUse(room)).isEqualTo(room == Room.SIGNALS));
    assertThat(Room.CLI.mayUse(Room.SIGNALS)).isTrue();
    assertThat(classesOfModules.get("belfry-signals"))
        .isNotEmpty()
        .flatExtracting(type -> type.getDirectDependenciesFromSelf())
        .extracting(it -> it.getTargetClass().getBaseComponentType().getPackageName())
        .filteredOn(name -> name.startsWith("dev.belfry"))
        .allMatch(name -> Room.of(name).equals(Optional.of(Room.SIGNALS)));
  }

  @Test
  void arrowsAreAsDrawn() {
    Architecture.ARROWS.check(classes);
  }

  @Test
  void linuxLoopAndShmStandOnTheJdkAlone() {
    Architecture.JDK_ALONE.check(classes);
  }

  @Test
  void everyPackageIsNullMarked() {
    Architecture.NULL_MARKED.check(classes);
  }

  @Test
  void onlyProgramsEndTheJvm() {
    Architecture.EXITS.check(classes);
  }

  @Test
  void nothingUsesJavaUtilLogging() {
    Architecture.LOGGING.check(classes);
  }

  @Test
  void copiesOfOptionsAreMadeByMethodsCalledWith() {
    Architecture.OPTIONS.check(classes);
  }
}
