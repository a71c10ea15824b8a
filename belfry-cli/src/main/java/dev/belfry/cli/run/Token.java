package dev.belfry.cli.run;

import dev.belfry.admin.Secret;
import dev.belfry.cli.hosts.RunDirectory;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;

/**
 * The default token of the admin surfaces of a user's hosts, for those whose configuration names no
 * other. It is in a file of the run directory that only the user can read.
 *
 * @param file the file
 * @param news the token itself if it was just made; it is shown only then, and only at a terminal
 */
record Token(Path file, Optional<String> news) {
  private static final String NAME = "admin-token";
  private static final int BYTES = 32;

  /** Returns the existing token, or makes a new one. */
  static Token of(RunDirectory directory) throws IOException {
    Path file = directory.file(NAME);
    if (Files.exists(file)) {
      return new Token(file, Optional.empty());
    }
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    String text = Base64.getUrlEncoder().withoutPadding().encodeToString(random);
    // Written to another file first, so that no reader sees half a token.
    Path aside = directory.file("." + NAME + "-" + UUID.randomUUID());
    Files.createFile(
        aside, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    try {
      directory.write(aside, text + "\n");
      Files.createLink(file, aside);
      return new Token(file, Optional.of(text));
    } catch (FileAlreadyExistsException another) { // another host was first: its token counts
      return new Token(file, Optional.empty());
    } finally {
      Files.delete(aside);
    }
  }

  /** Returns the token's file, which may not exist. */
  static Path place(RunDirectory directory) {
    return directory.file(NAME);
  }

  Secret secret() throws IOException {
    return Secret.fromFile(file);
  }
}
