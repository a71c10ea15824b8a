package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SocketFileTest {
  @TempDir private Path directory;

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void onlyTheOwnerCanReachIt() throws Exception {
    try (Host host = Host.open(Transport.UNIX)) {
      assertThat(permissions(host.socket)).isEqualTo("rw-------");
      assertThat(permissions(host.socket.resolveSibling("."))).isEqualTo("rwx------");
      assertThat(host.admin.port()).isEqualTo(-1);
    }
  }

  /** The message used to advise changing its mode, which is bad advice for /tmp or /run. */
  @Test
  void aDirectoryThatOthersCanEnterIsRefused() throws IOException {
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
    assertThatThrownBy(() -> new SocketFile(directory.resolve("admin.sock")).prepare())
        .hasMessageStartingWith(directory + " can be reached by others (rwxr-xr-x)")
        .hasMessageEndingWith("put it into a directory of its own, with mode 700");
  }

  @Test
  void whatAProcessLeftBehindIsRemovedButNotASocketInUse() throws IOException {
    var file = new SocketFile(directory.resolve("admin.sock"));
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(file.address());
      assertThatThrownBy(file::prepare).hasMessageContaining("somebody listens at");
    }
    assertThat(directory.resolve("admin.sock")).exists(); // as after a crash
    file.prepare();
    assertThat(directory.resolve("admin.sock")).doesNotExist();
  }

  /** The host that checks a new configuration may be listening on the socket itself. */
  @Test
  void aCheckObjectsToNoSocketAndTouchesNone() throws IOException {
    Path socket = directory.resolve("admin.sock");
    var options = new AdminOptions().unixSocket(socket);
    options.checkUnixSocket();
    assertThat(socket).doesNotExist();
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(UnixDomainSocketAddress.of(socket));
      options.checkUnixSocket();
    }
    options.checkUnixSocket();
    assertThat(socket).exists();
  }

  @Test
  void aFileThatIsNoSocketIsLeftAlone() throws IOException {
    Path other = Files.writeString(directory.resolve("admin.sock"), "precious");
    assertThatThrownBy(() -> new SocketFile(other).prepare()).isInstanceOf(IOException.class);
    assertThat(other).hasContent("precious");
  }

  /** Such a path used to pass the check, and then could not be opened. */
  @Test
  void aPlaceWhereNoneCanBeMadeIsRefused() throws IOException {
    Path locked = Files.createDirectory(directory.resolve("locked"));
    Files.setPosixFilePermissions(locked, PosixFilePermissions.fromString("r-x------"));
    assumeFalse(Files.isWritable(locked), "root may write everywhere");
    assertThatThrownBy(() -> new SocketFile(locked.resolve("not/there/admin.sock")).check())
        .hasMessageContaining("cannot be made in " + locked);
  }

  @Test
  void aPathIsNoLongerThanTheLongestThatCanBeBound() throws IOException {
    String full = directory.resolve("x".repeat(106 - directory.toString().length() - 1)).toString();
    new SocketFile(Path.of(full)).prepare();
    try (ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
      server.bind(new SocketFile(Path.of(full)).address());
    }
    assertThatThrownBy(() -> new SocketFile(Path.of(full + "x")).check())
        .hasMessageContaining("longer than 106 bytes");
  }
}
