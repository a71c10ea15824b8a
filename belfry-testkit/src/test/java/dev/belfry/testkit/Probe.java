package dev.belfry.testkit;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Io;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What the program {@code probe} found out about its own process. */
record Probe(int pid, List<String> lines) {
  private static final Sys SYS = Sys.forAnyThread();

  /** Starts the program with a pipe as its standard output, and reads that to the end. */
  static Probe run(Spawn spawn) throws IOException {
    Pipe pipe = Pipe.open(SYS, false);
    try (Fd reader = pipe.reader();
        PidFd child = start(spawn, pipe.writer())) {
      List<String> lines = readAll(reader).lines().toList();
      if (child.awaitExit().shellCode() != 0 || !lines.getLast().equals("end")) {
        throw new AssertionError("the probe failed: " + lines);
      }
      return new Probe(child.pid(), lines);
    }
  }

  private static PidFd start(Spawn spawn, Fd output) throws IOException {
    try (output) {
      return spawn.standard(1, output.number()).start(SYS);
    }
  }

  private static String readAll(Fd reader) {
    var all = new ByteArrayOutputStream();
    var set = new PollSet(SYS, 1);
    set.set(0, reader.number(), PollSet.IN);
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment room = arena.allocate(1 << 16);
      while (true) {
        if (set.await(deadline) != 1) {
          throw new AssertionError("the child says nothing more; it said: " + all);
        }
        long bytes = Io.read(SYS, reader.number(), room);
        if (bytes <= 0) {
          if (bytes < 0) {
            throw new AssertionError(Errno.name((int) -bytes));
          }
          return all.toString(StandardCharsets.UTF_8);
        }
        all.writeBytes(room.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE));
      }
    }
  }

  /** The rest of each line that begins with a word. */
  List<String> all(String word) {
    return lines.stream()
        .filter(line -> line.startsWith(word))
        .map(line -> line.substring(word.length()).strip())
        .toList();
  }

  /** The rest of the first line that begins with a word. */
  String one(String word) {
    return all(word).getFirst();
  }

  /** The descriptors, by number. */
  Map<Integer, String> descriptors() {
    var descriptors = new TreeMap<Integer, String>();
    for (String line : all("fd ")) {
      int space = line.indexOf(' ');
      descriptors.put(Integer.parseInt(line.substring(0, space)), line.substring(space + 1));
    }
    return descriptors;
  }
}
