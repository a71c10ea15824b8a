package dev.belfry.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.Location;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

/** The classes of all modules that have been compiled; the program is compiled last. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class ArchitectureTest {
  private final Map<String, JavaClasses> classesOfModules = new TreeMap<>();
  private JavaClasses classes = new ClassFileImporter().importLocations(List.<Location>of());

  @BeforeAll
  void importClasses() throws IOException {
    var directories = new ArrayList<Path>();
    for (Path module : Project.current().modules()) {
      Path directory = module.resolve("target/classes");
      if (Files.isDirectory(directory)) {
        directories.add(directory);
        classesOfModules.put(
            String.valueOf(module.getFileName()), new ClassFileImporter().importPath(directory));
      }
    }
    classes = new ClassFileImporter().importPaths(directories);
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
}
