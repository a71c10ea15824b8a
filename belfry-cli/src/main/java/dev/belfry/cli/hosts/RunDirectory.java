package dev.belfry.cli.hosts;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.stream.Collectors.joining;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The directory where a user's live hosts announce themselves and keep their counters: {@code
 * $XDG_RUNTIME_DIR/belfry}, or {@code /tmp/belfry-UID} if the user owns no such directory. Only the
 * user may access it.
 *
 * <p>Each host has one file, {@code *.host}, and holds a lock on it ({@code flock(2)}) while it
 * lives. The kernel releases the lock when the process ends, however it ends. So a file that can be
 * locked is stale, and the process that finds it removes it, together with the counters it names.
 * File names are never reused, so this cannot hit the file of a later host. All hosts share a lock
 * on the directory itself, which keeps it from being cleaned up.
 *
 * <p>Thread-safe.
 */
public final class RunDirectory {
  private static final int ONLY_OWNER = 0600;
  private static final int OTHERS = 077;
  private static final String ENTRY = ".host";
  private static final String COUNTERS = ".counters";

  /** Prefix of the name of an entry that is still being written. */
  private static final String UNFINISHED = ".";

  private final Sys sys;
  private final Path path;

  private RunDirectory(Sys sys, Path path) {
    this.sys = sys;
    this.path = path;
  }

  /**
   * Returns the current user's run directory, and creates it if it is missing.
   *
   * @throws IOException if the path is a link, belongs to another user, or is accessible to others
   */
  public static RunDirectory ofUser() throws IOException {
    Sys sys = Sys.forAnyThread();
    return at(sys, place(sys, System.getenv("XDG_RUNTIME_DIR")));
  }

  /** Returns the path for an XDG_RUNTIME_DIR, which su and sudo may pass on to other users. */
  static Path place(Sys sys, @Nullable String runtime) throws IOException {
    int uid = ownUid(sys);
    if (runtime != null && !runtime.isEmpty() && Path.of(runtime).isAbsolute()) {
      try (Fd directory = openDirectory(sys, Path.of(runtime))) {
        if (FileStatus.of(sys, directory.number()).uid() == uid) {
          return Path.of(runtime, "belfry");
        }
      } catch (ErrnoException notThere) {
        // Use /tmp.
      }
    }
    return Path.of("/tmp/belfry-" + Integer.toUnsignedString(uid));
  }

  /** Returns the run directory at a path, and creates it if it is missing. */
  static RunDirectory at(Sys sys, Path path) throws IOException {
    try {
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException there) {
      // Checked next, whatever it is.
    }
    try (Fd directory = openDirectory(sys, path)) {
      FileStatus status = FileStatus.of(sys, directory.number());
      if (status.uid() != ownUid(sys)) {
        throw new IOException(
            "%s belongs to another user (uid %d); remove it or set XDG_RUNTIME_DIR to a directory of your own"
                .formatted(path, Integer.toUnsignedLong(status.uid())));
      }
      if ((status.permissions() & OTHERS) != 0) {
        throw new IOException(
            "%s has mode %o, so others may have put files there; remove it, or empty it and chmod 700"
                .formatted(path, status.permissions()));
      }
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOTDIR) || e.is(Errno.ELOOP)) {
        throw new IOException(path + " is a link or no directory; remove it", e);
      }
      throw e;
    }
    return new RunDirectory(sys, path);
  }

  private static Fd openDirectory(Sys sys, Path path) throws ErrnoException {
    return OpenFile.open(sys, path, OpenFlags.directory() | OpenFlags.noFollow(), 0);
  }

  private static int ownUid(Sys sys) throws IOException {
    try (Fd self = OpenFile.open(sys, Path.of("/proc/self"), OpenFlags.directory(), 0)) {
      return FileStatus.of(sys, self.number()).uid();
    }
  }

  /** Returns the path of a file in this directory, such as a token; it need not exist. */
  public Path file(String name) {
    Path file = path.resolve(name);
    if (!path.equals(file.getParent())) {
      throw new IllegalArgumentException("not the plain name of a file: " + name);
    }
    return file;
  }

  /** Writes a file here. If the disk is full, the error names the file, unlike Java's own. */
  public void write(Path file, String text) throws IOException {
    try {
      Files.writeString(file, text);
    } catch (FileSystemException e) {
      throw e; // it names the file
    } catch (IOException e) {
      throw new IOException(
          "cannot write %s: %s; make room there, or set XDG_RUNTIME_DIR to another directory of your own"
              .formatted(file, e.getMessage()),
          e);
    }
  }

  /** Returns a path for this process's counters that was never used before. */
  public Path newCountersFile() {
    return file(unusedName() + COUNTERS);
  }

  /** Begins with the process id, for people who look; the rest makes the name unique. */
  private static String unusedName() {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    return ProcessHandle.current().pid() + "-" + random;
  }

  /** A host's entry. The host counts as live until this is closed or the process ends. */
  public static final class Announcement implements AutoCloseable {
    private final Path file;
    private final Fd lock;
    private final Fd place;

    private Announcement(Path file, Fd lock, Fd place) {
      this.file = file;
      this.lock = lock;
      this.place = place;
    }

    /** Removes the entry. A second call does nothing. */
    @Override
    public void close() {
      if (lock.isOpen()) {
        remove(file);
        lock.close();
        place.close();
      }
    }
  }

  /** Makes this host known. Removes what dead hosts left behind, in case nothing else does. */
  public Announcement announce(HostEntry entry) throws IOException {
    var _ = live();
    Fd place = openDirectory(sys, path);
    try {
      // systemd-tmpfiles does not clean up a locked directory (tmpfiles.d(5)).
      FileLocks.tryFlock(sys, place.number(), FileLocks.Mode.SHARED);
      return announce(entry, place);
    } catch (IOException | RuntimeException e) {
      place.close();
      throw e;
    }
  }

  private Announcement announce(HostEntry entry, Fd place) throws IOException {
    while (true) {
      String name = unusedName() + ENTRY;
      Path unfinished = path.resolve(UNFINISHED + name);
      Fd file =
          OpenFile.open(
              sys,
              unfinished,
              OpenFlags.READ_WRITE | OpenFlags.CREATE | OpenFlags.EXCLUSIVE,
              ONLY_OWNER);
      try {
        // Before the lock was taken, another process may have found the file and removed it as
        // stale.
        if (FileLocks.tryFlock(sys, file.number(), FileLocks.Mode.EXCLUSIVE)
            && FileStatus.of(sys, file.number()).links() > 0) {
          write(unfinished, entry.toJson());
          Path finished = path.resolve(name);
          Files.move(unfinished, finished, StandardCopyOption.ATOMIC_MOVE);
          return new Announcement(finished, file, place);
        }
      } catch (IOException | RuntimeException e) {
        remove(unfinished);
        file.close();
        throw e;
      }
      file.close();
    }
  }

  /**
   * What is running.
   *
   * @param hosts the live hosts
   * @param unreadable the entries of live hosts that are not in this version's form
   */
  private record Running(List<HostEntry> hosts, List<Path> unreadable) {
    Running() {
      this(new ArrayList<>(), new ArrayList<>());
    }

    /** Describes each host. */
    Stream<String> all() {
      return Stream.concat(
          hosts.stream().map(HostEntry::toString),
          unreadable.stream()
              .map(it -> "a host of another version of belfry, whose entry cannot be read: " + it));
    }
  }

  /** Returns the live hosts, oldest first. Removes what dead hosts left behind. */
  public List<HostEntry> live() throws IOException {
    return running().hosts;
  }

  private Running running() throws IOException {
    var running = new Running();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "*" + ENTRY)) {
      for (Path file : files) {
        look(file, running);
      }
    }
    running.hosts.sort(
        Comparator.comparing(HostEntry::startedAt).thenComparingLong(HostEntry::pid));
    return running;
  }

  /** Adds the host of an entry, unless the entry is unfinished; if the host is dead, cleans up. */
  private void look(Path file, Running running) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return; // not made by a host; and opening a pipe would block
    }
    try (Fd fd = OpenFile.open(sys, file, OpenFlags.READ_ONLY | OpenFlags.noFollow(), 0)) {
      boolean dead = FileLocks.tryFlock(sys, fd.number(), FileLocks.Mode.SHARED);
      Optional<HostEntry> entry = read(file);
      if (dead) {
        entry
            .map(HostEntry::counters)
            .filter(it -> path.equals(it.getParent()))
            .ifPresent(RunDirectory::remove);
        remove(file);
      } else if (!file.getFileName().toString().startsWith(UNFINISHED)) {
        entry.ifPresentOrElse(running.hosts::add, () -> running.unreadable.add(file));
      }
    } catch (NoSuchFileException removed) {
      // Closed, or removed by another process, meanwhile.
    } catch (ErrnoException e) {
      if (!e.is(Errno.ENOENT)) { // the same
        throw e;
      }
    }
  }

  /** Returns an entry; empty if its host was killed while writing it, or is of another version. */
  private static Optional<HostEntry> read(Path file) throws IOException {
    String text = new String(Files.readAllBytes(file), UTF_8); // never fails to decode
    try {
      return Optional.of(HostEntry.parse(text));
    } catch (RuntimeException unreadable) {
      return Optional.empty();
    }
  }

  /**
   * Returns the one host that matches.
   *
   * @param which its process id or name; null for the only host there is
   * @throws NoSuchHost if no host matches, or several do
   */
  public HostEntry find(@Nullable String which) throws IOException {
    Running running = running();
    String all = running.all().collect(joining(", "));
    if (all.isEmpty()) {
      throw new NoSuchHost(
          "no host is running (looked in %s); start one: belfry run".formatted(path));
    }
    if (which == null) {
      if (running.all().count() > 1) {
        throw new NoSuchHost("several hosts are running, say which by name or pid: " + all);
      }
      return running.hosts.stream()
          .findFirst()
          .orElseThrow(() -> new NoSuchHost("there is " + all));
    }
    List<HostEntry> meant = running.hosts.stream().filter(host -> host.is(which)).toList();
    if (meant.isEmpty()) {
      throw new NoSuchHost("no host is called %s; running: %s".formatted(which, all));
    }
    if (meant.size() > 1) {
      throw new NoSuchHost(
          "several hosts are called %s, say which by pid: ".formatted(which)
              + meant.stream().map(HostEntry::toString).collect(joining(", ")));
    }
    return meant.getFirst();
  }

  private static void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      System.getLogger(RunDirectory.class.getName())
          .log(System.Logger.Level.WARNING, "cannot delete " + file, e);
    }
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
