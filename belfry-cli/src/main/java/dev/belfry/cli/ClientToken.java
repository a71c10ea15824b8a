package dev.belfry.cli;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The token that a client shows. It is checked before it is sent: what cannot stand in a header
 * would come back in the message of an exception, and it may be the key of something else.
 */
public final class ClientToken {
  /** More than the head of a request may have, in which it is sent. */
  private static final int MAX_BYTES = 64 * 1024;

  private ClientToken() {}

  /**
   * The one in a file; white space around it does not count.
   *
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if what is in it is no token; the message does not show it
   */
  public static String fromFile(Path file) throws IOException {
    try (InputStream bytes = Files.newInputStream(file)) { // which may be without end
      byte[] read = bytes.readNBytes(MAX_BYTES + 1);
      String text = read.length > MAX_BYTES ? "" : new String(read, StandardCharsets.ISO_8859_1);
      return of(text, file.toString());
    }
  }

  /**
   * A text as a token.
   *
   * @param source where it is from, for the message
   * @throws IllegalArgumentException if it is none; the message does not show it
   */
  public static String of(String text, String source) {
    String token = text.strip();
    if (token.isEmpty() || token.chars().anyMatch(c -> c < ' ' || c > '~')) {
      throw new IllegalArgumentException(
          source + " has no token in it, which is one line of letters, digits and signs in ASCII");
    }
    return token;
  }
}
