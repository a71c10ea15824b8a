package dev.belfry.admin;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Text files bundled with the surface, as resources beside its classes. */
final class BundledText {
  private BundledText() {}

  static String read(String file) {
    try (InputStream resource = BundledText.class.getResourceAsStream(file)) {
      if (resource == null) {
        throw new IllegalStateException(file + " is missing beside its class");
      }
      return new String(resource.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
