package dev.belfry.admin;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * A token or password. It is kept as a digest only and never printed. On a command line everybody
 * would see it in {@code ps}, so it comes from a file or from the environment.
 */
public final class Secret {
  /** The most that it may have, in bytes: the head of a request, in which it comes, has 8 KiB. */
  public static final int MAX_BYTES = 4096;

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
   * @throws IllegalArgumentException if there is nothing in it, more than a line, or too much
   */
  public static Secret fromFile(Path file) throws IOException {
    try (InputStream bytes = Files.newInputStream(file)) { // which may be without end
      String source = "the file " + file;
      byte[] read = atMost(bytes.readNBytes(MAX_BYTES + 1), source);
      return of(UTF_8.newDecoder().decode(ByteBuffer.wrap(read)).toString(), source);
    }
  }

  /**
   * Whether what is in a file is no secret, because every user may read it. Not known, and so not
   * said, of a file system that has no such permissions.
   */
  public static boolean mayEverybodyRead(Path file) throws IOException {
    var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    return view != null
        && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ);
  }

  /**
   * Takes an environment variable.
   *
   * @throws IllegalArgumentException if it is not set or blank, or has more than a line or too much
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
    atMost(stripped.getBytes(UTF_8), source);
    return new Secret(stripped, source);
  }

  private static byte[] atMost(byte[] bytes, String source) {
    if (bytes.length > MAX_BYTES) {
      throw new IllegalArgumentException(
          "%s is too long for a secret, which has at most %d bytes".formatted(source, MAX_BYTES));
    }
    return bytes;
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
      return MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every JVM has SHA-256", e);
    }
  }

  @Override
  public String toString() {
    return "(secret)";
  }
}
