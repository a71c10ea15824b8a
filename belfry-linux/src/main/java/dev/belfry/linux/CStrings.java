package dev.belfry.linux;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** Strings and arrays of strings as in C: {@code char *} and {@code char *[]}. */
final class CStrings {
  /** The encoding for bytes that come from the kernel and go back unchanged. */
  static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private CStrings() {}

  /** A null-terminated array of pointers to UTF-8 strings. */
  static MemorySegment array(Arena arena, List<String> strings) {
    return array(arena, strings, StandardCharsets.UTF_8);
  }

  static MemorySegment array(Arena arena, List<String> strings, Charset charset) {
    MemorySegment array = arena.allocate(ValueLayout.ADDRESS, strings.size() + 1L);
    for (int i = 0; i < strings.size(); i++) {
      array.setAtIndex(ValueLayout.ADDRESS, i, string(arena, strings.get(i), charset));
    }
    return array; // fresh memory is zero, so the last pointer is null
  }

  private static MemorySegment string(Arena arena, String text, Charset charset) {
    if (text.indexOf('\0') >= 0) { // not in the message: the text may be a secret
      throw new IllegalArgumentException("an argument or a variable has a \\0 in it, its end in C");
    }
    return arena.allocateFrom(text, charset);
  }

  /**
   * A path as a string whose characters are its {@link #BYTES}. {@code Path.toString} may have lost
   * some of them: not every name can be decoded, and without a locale only ASCII can.
   */
  static String path(Path path) {
    String text = path.toString();
    if (StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
      return text;
    }
    // The JDK reveals a path's bytes only in its URI, which must be absolute, and which ends with a
    // slash if there is such a directory.
    String uri = Path.of("/").resolve(path).toUri().getRawPath();
    String whole = URLDecoder.decode(uri.replace("+", "%2B"), BYTES);
    return whole.substring(
        path.isAbsolute() ? 0 : 1, whole.endsWith("/") ? whole.length() - 1 : whole.length());
  }

  /** The path that has these {@link #BYTES}. */
  static Path path(String bytes) {
    if (StandardCharsets.US_ASCII.newEncoder().canEncode(bytes)) {
      return Path.of(bytes);
    }
    // The JDK accepts bytes only in a URI, which must be absolute.
    String escaped = URLEncoder.encode(bytes, BYTES).replace("+", "%20");
    Path whole = Path.of(URI.create("file:///" + escaped));
    return bytes.startsWith("/") ? whole : Path.of("/").relativize(whole);
  }

  /** The UTF-8 bytes of a text as characters, to be combined with other {@link #BYTES}. */
  static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), BYTES);
  }
}
