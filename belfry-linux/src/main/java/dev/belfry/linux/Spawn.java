package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Starts a process ({@code posix_spawn(3)}) in a well-defined state: it has exactly the descriptors
 * it was given, no blocked signals unless requested, no ignored signals, and the environment of its
 * parent except for the variables that were added to start this JVM.
 *
 * {@snippet :
 * PidFd child = Spawn.command("worker", "--verbose")
 *     .pass(bell)             // becomes descriptor 3
 *     .ownProcessGroup()
 *     .start(sys);
 * }
 */
public final class Spawn {
  /** More than {@code posix_spawn_file_actions_t} (80) or {@code posix_spawnattr_t} (336) needs. */
  static final long OPAQUE_BYTES = 512;

  private static final int FIRST_PASSED = 3;

  private static final int POSIX_SPAWN_SETPGROUP = 0x02;
  private static final int POSIX_SPAWN_SETSIGDEF = 0x04;
  private static final int POSIX_SPAWN_SETSIGMASK = 0x08;

  /**
   * All signals that have a disposition, that is, all but KILL and STOP. This includes 32 and 33,
   * which the C library reserves: it would leave them ignored in the child if they were not listed
   * here.
   */
  private static final SigSet RESETTABLE = SigSet.ALL.minus(SigSet.of(Signo.KILL, Signo.STOP));

  private final List<String> command;
  private final List<Integer> descriptors = new ArrayList<>(List.of(0, 1, 2));

  /** Null for our own, which is passed on byte for byte: Java may be unable to decode it. */
  private @Nullable Map<String, String> environment;

  /** Changes to that environment; null removes a variable. */
  private final Map<String, @Nullable String> changes = new TreeMap<>();

  private @Nullable Path directory;
  private boolean ownGroup;
  private SigSet blocked = SigSet.EMPTY;

  private Spawn(List<String> command) {
    this.command = command;
  }

  /** A program, looked up on the PATH unless its name has a slash, with its arguments. */
  public static Spawn command(String... command) {
    return command(List.of(command));
  }

  /** A program, looked up on the PATH unless its name has a slash, with its arguments. */
  public static Spawn command(List<String> command) {
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a command has at least the program");
    }
    return new Spawn(List.copyOf(command));
  }

  /** Replaces the child's whole environment. */
  public Spawn environment(Map<String, String> variables) {
    this.environment = Map.copyOf(variables);
    return this;
  }

  /**
   * Sets one variable of the child's environment. The others are passed on byte for byte.
   *
   * @param value null to remove the variable
   */
  public Spawn variable(String name, @Nullable String value) {
    changes.put(name, value);
    return this;
  }

  /** Sets the child's working directory. */
  public Spawn directory(Path path) {
    this.directory = path;
    return this;
  }

  /**
   * Sets a standard stream of the child: 0 in, 1 out, 2 error. Ours stays open. Both share the open
   * file description: if it is non-blocking, the child's reads and writes fail with EAGAIN instead
   * of waiting.
   */
  public Spawn standard(int stream, int fd) {
    if (stream < 0 || stream >= FIRST_PASSED) {
      throw new IllegalArgumentException("0, 1 or 2 is a standard stream, not " + stream);
    }
    descriptors.set(stream, fd);
    return this;
  }

  /** Passes a descriptor on; the first becomes number 3, the next 4. Ours stays open. */
  public Spawn pass(int fd) {
    descriptors.add(fd);
    return this;
  }

  /** Puts the child into a process group of its own, so that Ctrl+C does not reach it. */
  public Spawn ownProcessGroup() {
    ownGroup = true;
    return this;
  }

  /** Blocks these signals in the child: they stay pending until it reads or unblocks them. */
  public Spawn block(SigSet signals) {
    blocked = signals;
    return this;
  }

  /**
   * Starts the process.
   *
   * @return the child, which the caller must watch and reap
   * @throws ErrnoException if there is no such program, or no room for another process
   */
  public PidFd start(Sys sys) throws ErrnoException {
    // A process may have been started with CHLD ignored. The kernel then reaps children itself, and
    // their exit status is lost.
    SignalActions.heed(sys, SigSet.of(Signo.CHLD));
    var sources = new ArrayList<Fd>();
    try (Arena arena = Arena.ofConfined()) {
      // The child moves descriptors one after the other, and could overwrite a source before its
      // turn. So the sources are first duplicated out of the way.
      for (int fd : descriptors) {
        sources.add(FdFlags.duplicate(sys, fd, descriptors.size()));
      }
      MemorySegment actions = arena.allocate(OPAQUE_BYTES, Long.BYTES);
      MemorySegment attributes = arena.allocate(OPAQUE_BYTES, Long.BYTES);
      check("posix_spawn_file_actions_init", () -> sys.posixSpawnFileActionsInit(actions));
      try {
        check("posix_spawnattr_init", () -> sys.posixSpawnattrInit(attributes));
        try {
          fillActions(sys, arena, actions, sources);
          fillAttributes(sys, arena, attributes);
          return watch(sys, spawn(sys, arena, actions, attributes));
        } finally {
          sys.posixSpawnattrDestroy(attributes);
        }
      } finally {
        sys.posixSpawnFileActionsDestroy(actions);
      }
    } finally {
      sources.forEach(Fd::close);
    }
  }

  /** A child that cannot be watched must not be left running: it is killed and reaped at once. */
  private static PidFd watch(Sys sys, int pid) throws ErrnoException {
    try {
      return PidFd.open(sys, pid);
    } catch (ErrnoException unwatched) {
      Processes.kill(sys, pid, Signo.KILL);
      Processes.reap(sys, pid);
      throw unwatched;
    }
  }

  private void fillActions(Sys sys, Arena arena, MemorySegment actions, List<Fd> sources)
      throws ErrnoException {
    for (int i = 0; i < sources.size(); i++) {
      int target = i;
      check(
          "posix_spawn_file_actions_adddup2",
          () -> sys.posixSpawnFileActionsAdddup2(actions, sources.get(target).number(), target));
    }
    check(
        "posix_spawn_file_actions_addclosefrom_np",
        () -> sys.posixSpawnFileActionsAddclosefrom(actions, sources.size()));
    if (directory != null) {
      MemorySegment path = arena.allocateFrom(CStrings.path(directory), CStrings.BYTES);
      check(
          "posix_spawn_file_actions_addchdir_np",
          () -> sys.posixSpawnFileActionsAddchdir(actions, path));
    }
  }

  private void fillAttributes(Sys sys, Arena arena, MemorySegment attributes)
      throws ErrnoException {
    MemorySegment mask = blocked.toNative(arena);
    MemorySegment all = RESETTABLE.toNative(arena);
    check("posix_spawnattr_setsigmask", () -> sys.posixSpawnattrSetsigmask(attributes, mask));
    check("posix_spawnattr_setsigdefault", () -> sys.posixSpawnattrSetsigdefault(attributes, all));
    int flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
    if (ownGroup) {
      flags |= POSIX_SPAWN_SETPGROUP; // group 0, the default, stands for a new group
    }
    short all16 = (short) flags;
    check("posix_spawnattr_setflags", () -> sys.posixSpawnattrSetflags(attributes, all16));
  }

  private int spawn(Sys sys, Arena arena, MemorySegment actions, MemorySegment attributes)
      throws ErrnoException {
    MemorySegment pid = arena.allocate(ValueLayout.JAVA_INT);
    MemorySegment program = arena.allocateFrom(command.getFirst());
    MemorySegment argv = CStrings.array(arena, command);
    MemorySegment envp = CStrings.array(arena, changedEnvironment(), CStrings.BYTES);
    check("posix_spawnp", () -> sys.posixSpawnp(pid, program, actions, attributes, argv, envp));
    return pid.get(ValueLayout.JAVA_INT, 0);
  }

  private List<String> changedEnvironment() {
    var variables = new ArrayList<String>();
    if (environment != null) {
      environment.forEach((name, value) -> variables.add(CStrings.utf8(name + "=" + value)));
    } else {
      variables.addAll(ourEnvironment());
    }
    changes.forEach(
        (name, value) -> {
          variables.removeIf(it -> it.startsWith(CStrings.utf8(name) + "="));
          if (value != null) {
            variables.add(CStrings.utf8(name + "=" + value));
          }
        });
    return variables;
  }

  private static List<String> ourEnvironment() {
    try {
      return SignalLaunch.rawChildEnvironment();
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read our own environment: " + e.getMessage(), e);
    }
  }

  /** Names the directory too, because it may be what is missing. */
  private void check(String name, IntSupplier attempt) throws ErrnoException {
    String program = command.getFirst();
    call(name, directory == null ? program : program + " in " + directory, attempt);
  }
}
