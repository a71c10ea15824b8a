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

/** Strings and arrays of strings as C sees them: {@code char *} and {@code char *[]}. */
final class CStrings {
  /** The encoding of what came from the kernel byte by byte and goes back unchanged. */
  static final Charset BYTES = StandardCharsets.ISO_8859_1;

  private CStrings() {}

  /** A null-terminated array of pointers to strings in UTF-8. */
  static MemorySegment array(Arena arena, List<String> strings) {
    return array(arena, strings, StandardCharsets.UTF_8);
  }

  static MemorySegment array(Arena arena, List<String> strings, Charset charset) {
    MemorySegment array = arena.allocate(ValueLayout.ADDRESS, strings.size() + 1L);
    for (int i = 0; i < strings.size(); i++) {
      array.setAtIndex(ValueLayout.ADDRESS, i, string(arena, strings.get(i), charset));
    }
    return array; // fresh memory is zero, and so is the last pointer
  }

  private static MemorySegment string(Arena arena, String text, Charset charset) {
    if (text.indexOf('\0') >= 0) { // the text itself may be a secret
      throw new IllegalArgumentException("an argument or a variable has a \\0 in it, its end in C");
    }
    return arena.allocateFrom(text, charset);
  }

  /**
   * A path whose characters are its {@link #BYTES}. As text it may have lost some of them: not
   * every name can be decoded, and without a locale none that is not ASCII.
   */
  static String path(Path path) {
    String text = path.toString();
    if (StandardCharsets.US_ASCII.newEncoder().canEncode(text)) {
      return text;
    }
    // What the JDK keeps of a path it shows only in the URI, which has to be absolute, and ends
    // with a slash if there is such a directory.
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
    // The JDK takes bytes in a URI only, which has to be absolute.
    String escaped = URLEncoder.encode(bytes, BYTES).replace("+", "%20");
    Path whole = Path.of(URI.create("file:///" + escaped));
    return bytes.startsWith("/") ? whole : Path.of("/").relativize(whole);
  }

  /** A text whose characters are the bytes of its UTF-8, to go with others in {@link #BYTES}. */
  static String utf8(String text) {
    return new String(text.getBytes(StandardCharsets.UTF_8), BYTES);
  }
}
