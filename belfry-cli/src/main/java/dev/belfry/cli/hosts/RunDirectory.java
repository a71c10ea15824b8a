package dev.belfry.cli.hosts;

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
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The directory where the hosts of one user announce that they are alive, and keep their counters:
 * {@code $XDG_RUNTIME_DIR/belfry}, or {@code /tmp/belfry-UID} where there is no such directory of
 * the user's own. Only the user may look into it.
 *
 * <p>Each host has one file, {@code *.host}, and holds a lock on it ({@code flock(2)}) for as long
 * as it lives. The kernel drops the lock with the process, however that ends; so a file that can be
 * locked was left behind, and whoever notices removes it with the counters it names. No file name
 * is ever used twice, so that this never hits the file of a later host. All share a lock on the
 * directory itself, which keeps it from being tidied up.
 *
 * <p>For any thread.
 */
public final class RunDirectory {
  private static final int ONLY_OWNER = 0600;
  private static final int OTHERS = 077;
  private static final String ENTRY = ".host";
  private static final String COUNTERS = ".counters";

  /** The name of an entry that is being written begins with this. */
  private static final String UNFINISHED = ".";

  private final Sys sys;
  private final Path path;

  private RunDirectory(Sys sys, Path path) {
    this.sys = sys;
    this.path = path;
  }

  /**
   * The user's own, made if it is not there.
   *
   * @throws IOException if what is there is a link, belongs to somebody else, or is open to others
   */
  public static RunDirectory ofUser() throws IOException {
    Sys sys = Sys.forAnyThread();
    return at(sys, place(sys, System.getenv("XDG_RUNTIME_DIR")));
  }

  /** Where it is for a user with this {@code XDG_RUNTIME_DIR}, which su and sudo may pass on. */
  static Path place(Sys sys, @Nullable String runtime) throws IOException {
    int uid = ownUid(sys);
    if (runtime != null && !runtime.isEmpty() && Path.of(runtime).isAbsolute()) {
      try (Fd directory = openDirectory(sys, Path.of(runtime))) {
        if (FileStatus.of(sys, directory.number()).uid() == uid) {
          return Path.of(runtime, "belfry");
        }
      } catch (ErrnoException notThere) {
        // Then the other place.
      }
    }
    return Path.of("/tmp/belfry-" + Integer.toUnsignedString(uid));
  }

  /** The one at a path, made if it is not there. */
  static RunDirectory at(Sys sys, Path path) throws IOException {
    try {
      Files.createDirectory(
          path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    } catch (FileAlreadyExistsException there) {
      // Whatever it is, it is checked next.
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

  /** A file that has its place here, such as a token; it need not exist. */
  public Path file(String name) {
    Path file = path.resolve(name);
    if (!path.equals(file.getParent())) {
      throw new IllegalArgumentException("not the plain name of a file: " + name);
    }
    return file;
  }

  /** Writes a text into a file here; if there is no room, says where: Java does not. */
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

  /** A path for the counters of this process, which no file has had before. */
  public Path newCountersFile() {
    return file(unusedName() + COUNTERS);
  }

  /** The name begins with the process id for people who look; the rest makes it unique. */
  private static String unusedName() {
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    return ProcessHandle.current().pid() + "-" + random;
  }

  /** A host's entry; until it is closed, or the process ends, others see that the host lives. */
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

  /** Lets others find this host. What dead ones left behind is removed: nobody else may look. */
  public Announcement announce(HostEntry entry) throws IOException {
    var _ = live();
    Fd place = openDirectory(sys, path);
    try {
      // Whatever tidies up /tmp leaves a locked directory alone (tmpfiles.d(5)).
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
        // Before the lock was taken, somebody may have found the file and taken it for one left
        // behind.
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

  /** The hosts that live now, the oldest first. What dead ones left behind is removed. */
  public List<HostEntry> live() throws IOException {
    var live = new ArrayList<HostEntry>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(path, "*" + ENTRY)) {
      for (Path file : files) {
        HostEntry entry = look(file);
        if (entry != null) {
          live.add(entry);
        }
      }
    }
    live.sort(Comparator.comparing(HostEntry::startedAt).thenComparingLong(HostEntry::pid));
    return live;
  }

  /** The host of an entry, or null if it is dead or not yet there. */
  private @Nullable HostEntry look(Path file) throws IOException {
    if (!Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
      return null; // no host has made it, and to open a pipe would take for ever
    }
    try (Fd fd = OpenFile.open(sys, file, OpenFlags.READ_ONLY | OpenFlags.noFollow(), 0)) {
      boolean dead = FileLocks.tryFlock(sys, fd.number(), FileLocks.Mode.SHARED);
      HostEntry entry = read(file);
      if (dead) {
        if (entry != null && path.equals(entry.counters().getParent())) {
          remove(entry.counters());
        }
        remove(file);
        return null;
      }
      return file.getFileName().toString().startsWith(UNFINISHED) ? null : entry;
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOENT)) {
        return null; // closed, or removed by somebody else, while we were looking
      }
      throw e;
    }
  }

  private static @Nullable HostEntry read(Path file) throws IOException {
    try {
      return HostEntry.parse(Files.readString(file));
    } catch (NoSuchFileException gone) {
      return null;
    } catch (RuntimeException unreadable) {
      return null; // half written by one that was killed, or by another version
    }
  }

  /**
   * The one host that is meant.
   *
   * @param which its process id or its name; null for the only one there is
   * @throws NoSuchHost if there is none or several
   */
  public HostEntry find(@Nullable String which) throws IOException {
    List<HostEntry> live = live();
    if (live.isEmpty()) {
      throw new NoSuchHost(
          "no host is running (looked in %s); start one: belfry run".formatted(path));
    }
    List<HostEntry> meant = live.stream().filter(host -> isMeant(host, which)).toList();
    if (meant.isEmpty()) {
      throw new NoSuchHost("no host is called %s; running: %s".formatted(which, list(live)));
    }
    if (meant.size() > 1) {
      throw new NoSuchHost("several hosts are running, name one by its pid: " + list(meant));
    }
    return meant.getFirst();
  }

  private static boolean isMeant(HostEntry host, @Nullable String which) {
    return which == null || which.equals(Long.toString(host.pid())) || which.equals(host.name());
  }

  private static String list(List<HostEntry> hosts) {
    return hosts.stream().map(HostEntry::toString).collect(joining(", "));
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
