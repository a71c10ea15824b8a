package dev.belfry.admin;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** The file of the Unix socket, which only its owner can reach. */
class SocketFile {
  private static final Set<PosixFilePermission> OWNERS_DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OWNERS_FILE =
      PosixFilePermissions.fromString("rw-------");

  /** The JDK's limit, one less than fits into {@code sun_path} with its NUL. */
  private static final int MAX_BYTES = 106;

  private final Path file;

  SocketFile(Path file) {
    this.file = file.toAbsolutePath();
  }

  UnixDomainSocketAddress address() {
    return UnixDomainSocketAddress.of(file);
  }

  /**
   * Creates the directory if it is missing and removes a stale socket that a dead process left.
   *
   * @throws IOException if {@link #check} fails, or if another process listens on the socket
   */
  void prepare() throws IOException {
    Path directory = directory();
    if (Files.notExists(directory)) {
      Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNERS_DIRECTORY));
    }
    check();
    if (isThere()) {
      removeStale();
    }
  }

  /**
   * Checks the path and changes nothing.
   *
   * @throws IOException if others can access the directory, if the file is not a socket, or if no
   *     socket could be created there
   */
  void check() throws IOException {
    if (file.toString().getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw new IOException(
          "%s is longer than %d bytes, the most that a socket may have".formatted(file, MAX_BYTES));
    }
    Path directory = directory();
    if (Files.notExists(directory)) {
      checkCanBeMade(directory);
      return;
    }
    if (!Files.isDirectory(directory)) {
      throw new IOException(directory + " is not a directory");
    }
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory);
    if (!OWNERS_DIRECTORY.containsAll(permissions)) {
      throw new IOException(
          "%s can be reached by others (%s), and whoever opens the admin socket is its owner: put it into a directory of its own, with mode 700"
              .formatted(directory, PosixFilePermissions.toString(permissions)));
    }
    if (isThere()
        && !Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS)
            .isOther()) {
      throw new IOException(file + " is in the way and no socket");
    }
  }

  private static void checkCanBeMade(Path directory) throws IOException {
    Path there = directory;
    while (there.getParent() != null && Files.notExists(there)) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new IOException(there + " is not a directory");
    }
    if (!Files.isWritable(there)) {
      throw new IOException(
          "%s is not there and cannot be made in %s, which is not ours to write"
              .formatted(directory, there));
    }
  }

  private Path directory() throws IOException {
    Path directory = file.getParent();
    if (directory == null) {
      throw new IOException(file + " is no place for a socket");
    }
    return directory;
  }

  private boolean isThere() {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }

  /** Restricts the file to its owner. Until now the directory has kept all others out. */
  void restrict() throws IOException {
    Files.setPosixFilePermissions(file, OWNERS_FILE);
  }

  private void removeStale() throws IOException {
    try (SocketChannel _ = SocketChannel.open(address())) {
      throw new IOException("somebody listens at " + file + " already");
    } catch (ConnectException nobodyListens) {
      Files.delete(file);
    }
  }
}
