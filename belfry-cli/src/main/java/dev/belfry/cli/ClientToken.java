package dev.belfry.cli;

import dev.belfry.admin.Secret;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * The token that a client sends. It is checked first: the exception for a bad header value shows
 * that value, which may be the key to something else.
 */
public final class ClientToken {
  private ClientToken() {}

  /**
   * Reads a token from a file, ignoring white space around it.
   *
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if the file holds no token; the message does not show its
   *     content
   */
  public static String fromFile(Path file) throws IOException {
    byte[] bytes = NamedFile.read(file, Secret.MAX_BYTES + 1);
    return of(new String(bytes, StandardCharsets.ISO_8859_1), file.toString());
  }

  /**
   * Returns a text as a token, without white space around it.
   *
   * @param source where the text comes from, for the message
   * @throws IllegalArgumentException if the text is not a token; the message does not show it
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
