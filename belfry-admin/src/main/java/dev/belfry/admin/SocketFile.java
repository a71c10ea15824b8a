package dev.belfry.admin;

import java.io.IOException;
import java.net.ConnectException;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/** The file of the Unix socket, which nobody but its owner can reach. */
final class SocketFile {
  private static final Set<PosixFilePermission> OWNERS_DIRECTORY =
      PosixFilePermissions.fromString("rwx------");
  private static final Set<PosixFilePermission> OWNERS_FILE =
      PosixFilePermissions.fromString("rw-------");

  private final Path file;

  SocketFile(Path file) {
    this.file = file.toAbsolutePath();
  }

  UnixDomainSocketAddress address() {
    return UnixDomainSocketAddress.of(file);
  }

  /**
   * Makes the place ready: a directory of the owner's, and no file left by a process that died.
   *
   * @throws IOException if others can get into the directory, or somebody listens there
   */
  void prepare() throws IOException {
    Path directory = file.getParent();
    if (directory == null) {
      throw new IOException(file + " is no place for a socket");
    }
    if (Files.notExists(directory)) {
      Files.createDirectories(directory, PosixFilePermissions.asFileAttribute(OWNERS_DIRECTORY));
    }
    Set<PosixFilePermission> permissions = Files.getPosixFilePermissions(directory);
    if (!OWNERS_DIRECTORY.containsAll(permissions)) {
      throw new IOException(
          "%s can be reached by others (%s), and whoever opens the admin socket is its owner: chmod 700 %s"
              .formatted(directory, PosixFilePermissions.toString(permissions), directory));
    }
    if (Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      removeStale();
    }
  }

  /** The directory has kept everybody out until here. */
  void restrict() throws IOException {
    Files.setPosixFilePermissions(file, OWNERS_FILE);
  }

  private void removeStale() throws IOException {
    var attributes =
        Files.readAttributes(file, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    if (!attributes.isOther()) {
      throw new IOException(file + " is in the way and no socket");
    }
    try (SocketChannel _ = SocketChannel.open(address())) {
      throw new IOException("somebody listens at " + file + " already");
    } catch (ConnectException nobodyListens) {
      Files.delete(file);
    }
  }
}
