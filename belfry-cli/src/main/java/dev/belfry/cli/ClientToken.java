package dev.belfry.cli;

import dev.belfry.admin.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The token that a client shows. It is checked before it is sent: what cannot stand in a header
 * would come back in the message of an exception, and it may be the key of something else.
 */
public final class ClientToken {
  private ClientToken() {}

  /**
   * The one in a file; white space around it does not count.
   *
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if what is in it is no token; the message does not show it
   */
  public static String fromFile(Path file) throws IOException {
    byte[] bytes = NamedFile.read(file, Secret.MAX_BYTES + 1);
    return of(new String(bytes, StandardCharsets.ISO_8859_1), file.toString());
  }

  /**
   * A text as a token.
   *
   * @param source where it is from, for the message
   * @throws IllegalArgumentException if it is none; the message does not show it
   */
  public static String of(String text, String source) {
    if (text.length() > Secret.MAX_BYTES) {
      throw new IllegalArgumentException(
          "%s is too long for a token, which has at most %d characters"
              .formatted(source, Secret.MAX_BYTES));
    }
    String token = text.strip();
    if (token.isEmpty() || token.chars().anyMatch(c -> c < ' ' || c > '~')) {
      throw new IllegalArgumentException(
          source + " has no token in it, which is one line of letters, digits and signs in ASCII");
    }
    return token;
  }
}
