package dev.belfry.cli.signals;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.cli.NamedFile;
import dev.belfry.signals.CatalogException;
import dev.belfry.signals.SignalCatalog;
import java.io.IOException;
import java.nio.file.Path;

/** Reads a catalog from a file named by the user. */
final class CatalogFile {
  private static final int MAX_BYTES = 1 << 20;

  private CatalogFile() {}

  static SignalCatalog load(Path file) throws IOException, CatalogException {
    byte[] bytes = NamedFile.read(file, MAX_BYTES + 1);
    if (bytes.length > MAX_BYTES) {
      throw new IOException(file + " has more than 1 MiB, too much for a catalog");
    }
    return SignalCatalog.parse(new String(bytes, UTF_8), file.toString());
  }
}
