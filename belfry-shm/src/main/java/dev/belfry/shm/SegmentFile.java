package dev.belfry.shm;

import static dev.belfry.shm.SegmentException.Reason.IN_USE;
import static dev.belfry.shm.SegmentException.Reason.NOT_A_SEGMENT;
import static java.nio.file.LinkOption.NOFOLLOW_LINKS;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FileLocks;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HexFormat;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The files of segments. A host builds its file aside, under another name in the same directory,
 * holds an exclusive lock on it as long as it lives, and gives it its path last. So a file found at
 * the path is a complete segment, and a file whose lock is free was left behind by a host that
 * died.
 */
final class SegmentFile {
  private static final System.Logger LOG = System.getLogger(SegmentFile.class.getName());
  private static final int ONLY_OWNER = 0600;
  private static final Path PROC = Path.of("/proc");

  /** The range that a host locks: only the header, because each guest may lock its own entry. */
  private static final FileLocks.Range HEADER = new FileLocks.Range(0, SegmentLayout.HEADER_BYTES);

  private SegmentFile() {}

  /** Creates the file aside, locked and empty. */
  // r[impl shm.file.permissions]
  static Aside createAside(Sys sys, Path path) throws IOException {
    Path absolute = path.toAbsolutePath();
    removeLeft(sys, absolute);
    String random = HexFormat.of().toHexDigits(ThreadLocalRandom.current().nextLong());
    Path aside = absolute.resolveSibling("." + absolute.getFileName() + "." + random);
    int flags =
        OpenFlags.READ_WRITE | OpenFlags.CREATE | OpenFlags.EXCLUSIVE | OpenFlags.noFollow();
    Fd file = OpenFile.open(sys, aside, flags, ONLY_OWNER);
    var made = new Aside(sys, aside, absolute, file);
    try {
      // Uncontended: no other process knows the name yet.
      FileLocks.tryLock(sys, file.number(), HEADER, FileLocks.Mode.EXCLUSIVE);
      return made;
    } catch (IOException | RuntimeException e) {
      made.abandon();
      throw e;
    }
  }

  /**
   * Removes files aside of hosts that died before they could rename them. An empty one is left
   * alone: its host may be about to lock it.
   */
  // r[impl shm.file.cleanup]
  private static void removeLeft(Sys sys, Path path) {
    try (DirectoryStream<Path> others =
        Files.newDirectoryStream(path.resolveSibling(""), it -> isAside(it, path))) {
      for (Path other : others) {
        removeIfLeft(sys, other);
      }
    } catch (IOException | DirectoryIteratorException e) {
      LOG.log(Level.DEBUG, "cannot look for what was left beside " + path, e);
    }
  }

  private static boolean isAside(Path file, Path path) {
    String begin = "." + path.getFileName() + ".";
    String name = String.valueOf(file.getFileName());
    return name.startsWith(begin) && name.substring(begin.length()).matches("[0-9a-f]{16}");
  }

  private static void removeIfLeft(Sys sys, Path aside) throws IOException {
    try (Fd file = open(sys, aside, true)) {
      if (FileStatus.of(sys, file.number()).size() > 0
          && FileLocks.tryLock(sys, file.number(), HEADER, FileLocks.Mode.EXCLUSIVE)) {
        Files.deleteIfExists(aside);
      }
    }
  }

  /** A file that has not got its path yet. */
  record Aside(Sys sys, Path aside, Path path, Fd file) {

    /**
     * Gives the file its path: either by a hard link, which fails if a file is there, so that one
     * of several hosts wins; or by renaming it over a stale file while holding that file's lock.
     */
    // r[impl shm.file.create]
    void putInPlace() throws IOException {
      while (true) {
        try (Fd old = openIfThere(sys, path)) {
          if (old == null) {
            try {
              Files.createLink(path, aside);
              Files.delete(aside);
              return;
            } catch (FileAlreadyExistsException another) {
              continue; // examine that file
            }
          }
          if (isStale(sys, path, old)) {
            Files.move(aside, path, StandardCopyOption.ATOMIC_MOVE);
            return;
          }
        }
      }
    }

    /** Removes the file again. */
    void abandon() {
      try {
        Files.deleteIfExists(aside);
      } catch (IOException e) {
        LOG.log(Level.WARNING, "cannot delete " + aside, e);
      }
      file.close();
    }
  }

  /**
   * Whether the file at a path is stale, in which case its lock is now ours.
   *
   * @return false if another file is at the path by now
   * @throws SegmentException if it belongs to a host that is alive, or is not a segment at all
   */
  // r[impl shm.file.cleanup]
  private static boolean isStale(Sys sys, Path path, Fd old) throws IOException {
    if (!FileLocks.tryLock(sys, old.number(), HEADER, FileLocks.Mode.EXCLUSIVE)) {
      throw new SegmentException(
          IN_USE, path + " belongs to a living host; stop that one or choose another path");
    }
    if (!isAt(sys, path, old)) {
      return false;
    }
    if (FileStatus.of(sys, old.number()).size() < Long.BYTES || !hasMagic(sys, old)) {
      throw new SegmentException(
          NOT_A_SEGMENT, path + " exists and is not a segment; remove it or choose another path");
    }
    return true;
  }

  private static boolean hasMagic(Sys sys, Fd file) throws IOException {
    return Segment.readMagic(sys, file) == SegmentHeader.MAGIC_NUMBER;
  }

  private static @Nullable Fd openIfThere(Sys sys, Path path) throws IOException {
    try {
      return open(sys, path, true);
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOENT)) {
        return null;
      }
      throw e;
    }
  }

  /** Opens the file of an existing segment; refuses anything but a regular file. */
  static Fd open(Sys sys, Path path, boolean writable) throws IOException {
    // The descriptor of a memfd is a link in /proc; elsewhere a link could point to any file.
    int follow = isDescriptor(path) ? 0 : OpenFlags.noFollow();
    int mode = writable ? OpenFlags.READ_WRITE : OpenFlags.READ_ONLY;
    // Opening must not wait for the other end of a FIFO.
    Fd file = OpenFile.open(sys, path, mode | follow | OpenFlags.NON_BLOCKING, 0);
    try {
      if (!FileStatus.of(sys, file.number()).isRegular()) {
        throw new SegmentException(NOT_A_SEGMENT, path + " is not a regular file");
      }
      return file;
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Whether a path names a descriptor of some process, as that of a memfd does. */
  static boolean isDescriptor(Path path) {
    return path.startsWith(PROC);
  }

  /** Whether a host holds its lock on a file. */
  static boolean isHostThere(Sys sys, Fd file) throws ErrnoException {
    return FileLocks.isLocked(sys, file.number(), HEADER);
  }

  /**
   * Whether a path names this very file. Does not open the path, as there may be no descriptor
   * left, or no permission.
   */
  static boolean isAt(Sys sys, Path path, Fd file) throws IOException {
    FileStatus ours = FileStatus.of(sys, file.number());
    try {
      Map<String, Object> there = Files.readAttributes(path, "unix:dev,ino", NOFOLLOW_LINKS);
      return there.equals(Map.of("dev", ours.device(), "ino", ours.inode()));
    } catch (NoSuchFileException nothing) {
      return false;
    }
  }
}
