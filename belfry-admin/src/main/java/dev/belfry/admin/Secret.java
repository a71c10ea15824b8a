package dev.belfry.admin;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A token or password. It is kept as a digest only and never printed. On a command line everybody
 * would see it in {@code ps}, so it comes from a file or from the environment.
 */
public final class Secret {
  private static final int LAST_OF_ASCII = 0x7f;

  private final byte[] digest;
  private final boolean isAscii;

  /** Where it is from, for messages. */
  private final String source;

  private Secret(String text, String source) {
    this.digest = sha256(text);
    this.isAscii = text.chars().allMatch(c -> c <= LAST_OF_ASCII);
    this.source = source;
  }

  /**
   * Reads a file that holds the secret and nothing else; white space around it does not count.
   *
   * @throws IllegalArgumentException if there is nothing in it, or more than a line
   */
  public static Secret fromFile(Path file) throws IOException {
    return of(Files.readString(file), "the file " + file);
  }

  /**
   * Takes an environment variable.
   *
   * @throws IllegalArgumentException if it is not set or blank, or has more than a line
   */
  public static Secret fromEnvironment(String variable) {
    String value = System.getenv(variable);
    return of(value == null ? "" : value, "the environment variable " + variable);
  }

  /** For programs that get it from elsewhere. */
  public static Secret of(String text) {
    return of(text, "the secret");
  }

  // r[impl signals.http.auth]
  private static Secret of(String text, String source) {
    String stripped = text.strip();
    if (stripped.isEmpty()) {
      throw new IllegalArgumentException(
          source + " is empty: an empty secret would let anybody in");
    }
    if (stripped.chars().anyMatch(Character::isISOControl)) {
      throw new IllegalArgumentException(
          source + " has more than one line, or other control characters: nobody could send that");
    }
    return new Secret(stripped, source);
  }

  /**
   * This secret, as a token that clients show in a header as it is. A password may have more: it is
   * encoded first.
   *
   * @throws IllegalArgumentException if it has characters beyond ASCII, for which HTTP has no
   *     encoding that all clients share
   */
  public Secret asToken() {
    if (!isAscii) {
      throw new IllegalArgumentException(
          source
              + " has characters beyond ASCII, which cannot be sent in a header: choose letters,"
              + " digits and signs of ASCII");
    }
    return this;
  }

  /** Whether a text is the secret. Takes equally long for all texts of the same length. */
  // r[impl signals.http.auth-methods]
  public boolean isSame(String text) {
    return MessageDigest.isEqual(digest, sha256(text));
  }

  private static byte[] sha256(String text) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JVM has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "(secret)";
  }
}
