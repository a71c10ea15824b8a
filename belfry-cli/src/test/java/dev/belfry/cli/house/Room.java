package dev.belfry.cli.house;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The rooms of the house. Each is one Maven module, one Java module and one root package.
 *
 * <pre>
 *            ┌────────────► gateway ──► workers ──► shm ──► loop ──► linux
 *   cli ─────┤                 ├──► http                     ▲
 *            ├────────────► admin ────► signals ◄── signals-linux
 *            └─ (bench, stress, examples, testkit: never shipped; they may use everything)
 * </pre>
 */
enum Room {
  LINUX,
  LOOP,
  SHM,
  WORKERS,
  HTTP,
  GATEWAY,
  SIGNALS,
  SIGNALS_LINUX,
  ADMIN,
  CLI,
  BENCH,
  STRESS,
  EXAMPLES,
  TESTKIT;

  /** Returns the room that a package belongs to. */
  static Optional<Room> of(String packageName) {
    return Stream.of(values())
        .filter(room -> (packageName + ".").startsWith(room.packageName() + "."))
        .max(Comparator.comparingInt(room -> room.packageName().length()));
  }

  /** Returns the root of the room's packages. */
  String packageName() {
    return "dev.belfry." + lowerCaseName().replace('_', '.');
  }

  /** Returns the directory of the room's Maven module. */
  String module() {
    return "belfry-" + lowerCaseName().replace('_', '-');
  }

  private String lowerCaseName() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Whether the room is shipped; if not, it may use everything and no product may use it. */
  boolean isProduct() {
    return switch (this) {
      case BENCH, STRESS, EXAMPLES, TESTKIT -> false;
      default -> true;
    };
  }

  /** Whether the room is a Java module; the others run on the class path. */
  boolean hasModuleInfo() {
    return this != BENCH && this != STRESS;
  }

  /** Whether arrows lead from this room to the other, directly or through others. */
  boolean mayUse(Room other) {
    return this == other || !isProduct() || arrows().stream().anyMatch(room -> room.mayUse(other));
  }

  private List<Room> arrows() {
    return switch (this) {
      case LOOP -> List.of(LINUX);
      case SHM -> List.of(LOOP);
      case WORKERS -> List.of(SHM);
      case GATEWAY -> List.of(WORKERS, HTTP);
      case SIGNALS_LINUX -> List.of(SIGNALS, LOOP);
      case ADMIN -> List.of(SIGNALS, HTTP);
      case CLI -> List.of(GATEWAY, ADMIN);
      case LINUX, HTTP, SIGNALS, BENCH, STRESS, EXAMPLES, TESTKIT -> List.of();
    };
  }
}
