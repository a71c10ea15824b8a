package dev.belfry.shm;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The file of a segment, as {@code /proc/PID/maps} identifies it: by device and inode. On some file
 * systems these differ from those of {@code stat(2)}, so this process's own list is consulted
 * first.
 *
 * <pre>
 * 7f0e5c000000-7f0e5c002000 rw-s 00000000 00:21 1234   /the/path
 * </pre>
 */
final class MappedFile {
  private static final int DEVICE = 3;
  private static final int INODE = 4;

  private final long address;

  /** The file that is mapped at an address of this process. */
  MappedFile(long address) {
    this.address = address;
  }

  /** Whether a process has mapped the file; also false if that process may not be inspected. */
  boolean isMappedBy(int pid) throws IOException {
    Optional<String> ours = file("self", this::isHere);
    return ours.isPresent()
        && file(Integer.toString(pid), line -> file(line).equals(ours.get())).isPresent();
  }

  private static Optional<String> file(String process, Predicate<String> mapping)
      throws IOException {
    Path maps = Path.of("/proc", process, "maps");
    try (Stream<String> lines = Files.lines(maps, ISO_8859_1)) { // paths may be any bytes
      return lines.filter(mapping).map(MappedFile::file).findFirst();
    } catch (UncheckedIOException e) {
      throw e.getCause(); // the process ended between two lines
    }
  }

  private static String file(String line) {
    String[] fields = line.split(" +", -1);
    return fields[DEVICE] + " " + fields[INODE];
  }

  private boolean isHere(String line) {
    int dash = line.indexOf('-');
    int space = line.indexOf(' ');
    return dash > 0
        && dash < space
        && Long.parseUnsignedLong(line, 0, dash, 16) <= address
        && address < Long.parseUnsignedLong(line, dash + 1, space, 16);
  }
}
