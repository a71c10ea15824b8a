package dev.belfry.cli.house;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.belongToAnyOf;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.methods;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noMethods;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import java.io.IOException;
import java.lang.foreign.AddressLayout;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;

/** The rules on the architecture. */
final class Architecture {
  private static final String LINUX = Room.LINUX.packageName() + "..";

  /** Only one module uses the foreign linker; plain memory segments are fine everywhere. */
  static final ArchRule LINKER =
      noClasses()
          .that()
          .resideOutsideOfPackage(LINUX)
          .should()
          .dependOnClassesThat(belongToAnyOf(Linker.class, SymbolLookup.class));

  /** The same holds for the JDK's other restricted methods: a mistake there can crash the JVM. */
  static final ArchRule RESTRICTED =
      noClasses()
          .that()
          .resideOutsideOfPackage(LINUX)
          .should()
          .accessTargetWhere(
              describe(
                  "restricted methods are used",
                  access ->
                      isTo(access, MemorySegment.class, "reinterpret")
                          || isTo(access, AddressLayout.class, "withTargetLayout")
                          || isTo(access, System.class, "load", "loadLibrary")
                          || isTo(access, Runtime.class, "load", "loadLibrary")));

  static final ArchRule NO_JNI = noMethods().should().haveModifier(JavaModifier.NATIVE);

  static final ArchRule ARROWS = classes().should(useOnlyWhatTheirRoomMayUse());

  /** These three modules use the JDK alone; null annotations are gone at run time. */
  static final ArchRule JDK_ALONE =
      classes()
          .that()
          .resideInAnyPackage(LINUX, Room.LOOP.packageName() + "..", Room.SHM.packageName() + "..")
          .should()
          .onlyDependOnClassesThat()
          .resideInAnyPackage("java..", "jdk..", "org.jspecify..", "dev.belfry..");

  static final ArchRule NULL_MARKED =
      classes().that().resideOutsideOfPackage("..jmh_generated..").should(beInNullMarkedPackages());

  static final ArchRule EXITS =
      noClasses()
          .that(mayNotExit())
          .should()
          .accessTargetWhere(
              describe(
                  "the JVM is ended",
                  access ->
                      isTo(access, System.class, "exit")
                          || isTo(access, Runtime.class, "exit", "halt")));

  static final ArchRule LOGGING =
      noClasses().should().dependOnClassesThat().resideInAPackage("java.util.logging..");

  /** Another name would suggest that the options themselves change, as those of a pool do. */
  static final ArchRule OPTIONS =
      methods()
          .that(describe("give a copy of options", Architecture::copiesOptions))
          .should()
          .haveNameMatching("with[A-Z].*");

  private Architecture() {}

  /** Finds modules without a {@link Room} or without a descriptor. */
  static List<String> moduleProblems(Project project) throws IOException {
    var problems = new ArrayList<String>();
    for (Path module : project.modules()) {
      String name = String.valueOf(module.getFileName());
      Optional<Room> room =
          Stream.of(Room.values()).filter(drawn -> drawn.module().equals(name)).findAny();
      boolean described = Files.exists(module.resolve("src/main/java/module-info.java"));
      if (room.isEmpty()) {
        problems.add(name + " belongs to no room; draw it in class Room");
      } else if (room.get().hasModuleInfo() && !described) {
        problems.add(name + " has no src/main/java/module-info.java");
      }
    }
    return problems;
  }

  private static boolean copiesOptions(JavaMethod method) {
    JavaClass options = method.getOwner();
    return options.isRecord()
        && options.getSimpleName().endsWith("Options")
        && !method.getModifiers().contains(JavaModifier.STATIC)
        && method.getRawReturnType().equals(options);
  }

  private static boolean isTo(JavaAccess<?> access, Class<?> owner, String... names) {
    return access.getTargetOwner().isEquivalentTo(owner)
        && Set.of(names).contains(access.getTarget().getName());
  }

  private static ArchCondition<JavaClass> useOnlyWhatTheirRoomMayUse() {
    return new ArchCondition<>("use only what their room may use") {
      @Override
      public void check(JavaClass user, ConditionEvents events) {
        Optional<Room> room = Room.of(user.getPackageName());
        if (room.isEmpty()) {
          String message = user.getName() + " belongs to no room; draw it in class Room";
          events.add(SimpleConditionEvent.violated(user, message));
          return;
        }
        for (Dependency dependency : user.getDirectDependenciesFromSelf()) {
          String used = dependency.getTargetClass().getBaseComponentType().getPackageName();
          if (used.startsWith("dev.belfry")
              && !Room.of(used).map(room.get()::mayUse).orElse(false)) {
            events.add(SimpleConditionEvent.violated(dependency, dependency.getDescription()));
          }
        }
      }
    };
  }

  private static ArchCondition<JavaClass> beInNullMarkedPackages() {
    return new ArchCondition<>("be in packages marked with @NullMarked") {
      @Override
      public void check(JavaClass type, ConditionEvents events) {
        if (!type.getPackage().isAnnotatedWith(NullMarked.class)) {
          String message = type.getName() + ": its package-info.java lacks @NullMarked";
          events.add(SimpleConditionEvent.violated(type, message));
        }
      }
    };
  }

  /**
   * The command may end the JVM. So may main classes that are never shipped, and the exit port of
   * the signal standard, which tests replace.
   */
  private static DescribedPredicate<JavaClass> mayNotExit() {
    return describe(
        "are neither the command nor an exit port nor a main class",
        type -> {
          JavaClass outer = type;
          boolean hasMain = hasMain(type);
          while (outer.getEnclosingClass().isPresent()) {
            outer = outer.getEnclosingClass().get();
            hasMain |= hasMain(outer);
          }
          Room room = Room.of(type.getPackageName()).orElse(Room.LINUX);
          return switch (room) {
            case CLI -> false;
            case SIGNALS -> !outer.getSimpleName().contains("Exit");
            case BENCH, STRESS, EXAMPLES, TESTKIT -> !hasMain;
            default -> true;
          };
        });
  }

  private static boolean hasMain(JavaClass type) {
    return type.getMethods().stream().anyMatch(method -> method.getName().equals("main"));
  }
}
