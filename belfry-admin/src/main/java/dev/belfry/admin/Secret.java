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
 * A token or password, kept only as a digest and never printed. It comes from a file or the
 * environment, because {@code ps} would show it to everybody on a command line.
 */
public final class Secret {
  /**
   * The maximum length in bytes: it must fit into the head of a request, which is limited to 8 KiB.
   */
  public static final int MAX_BYTES = 4096;

  private static final int LAST_OF_ASCII = 0x7f;

  private final byte[] digest;
  private final boolean isAscii;

  /** Where it came from, for messages. */
  private final String source;

  private Secret(String text, String source) {
    this.digest = sha256(text);
    this.isAscii = text.chars().allMatch(c -> c <= LAST_OF_ASCII);
    this.source = source;
  }

  /**
   * Reads the secret from a file with nothing else in it; surrounding white space is ignored.
   *
   * @throws IllegalArgumentException if the file is blank, has more than one line, or is too long
   */
  public static Secret fromFile(Path file) throws IOException {
    try (InputStream bytes = Files.newInputStream(file)) { // which may be endless
      String source = "the file " + file;
      byte[] read = atMost(bytes.readNBytes(MAX_BYTES + 1), source);
      return of(UTF_8.newDecoder().decode(ByteBuffer.wrap(read)).toString(), source);
    }
  }

  /**
   * Whether every user can read a file. False on a file system without POSIX permissions, where
   * that is not known.
   */
  public static boolean mayEverybodyRead(Path file) throws IOException {
    var view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
    return view != null
        && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ);
  }

  /**
   * Reads the secret from an environment variable.
   *
   * @throws IllegalArgumentException if it is unset or blank, has more than one line, or is too
   *     long
   */
  public static Secret fromEnvironment(String variable) {
    String value = System.getenv(variable);
    return of(value == null ? "" : value, "the environment variable " + variable);
  }

  /** Creates a secret that the program obtained elsewhere. */
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
   * Returns this secret if it can be a token, which clients send verbatim in a header. A password
   * may have any characters, as it is encoded first.
   *
   * @throws IllegalArgumentException if it has non-ASCII characters, which clients encode in
   *     different ways
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

  /** Whether a text equals the secret, in time that depends only on the text's length. */
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
