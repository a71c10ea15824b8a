package dev.belfry.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Tells from outside which threads sleep on a shared futex. */
final class SleepingThreads {
  /** FUTEX_WAIT_BITSET, without the private flag that the JVM's own locks use. */
  private static final String SHARED_WAIT = " 0x9 ";

  private SleepingThreads() {}

  /** How many threads of this process sit in a shared futex wait. */
  static int count() throws IOException {
    return ids(ProcessHandle.current().pid()).size();
  }

  /** The kernel's ids of the threads of a process that do. */
  static List<Integer> ids(long pid) throws IOException {
    var ids = new ArrayList<Integer>();
    List<Path> tasks;
    try (Stream<Path> listed = Files.list(Path.of("/proc/" + pid + "/task"))) {
      tasks = listed.toList();
    }
    for (Path task : tasks) {
      try {
        String call = Files.readString(task.resolve("syscall"));
        boolean futex = call.startsWith("202 ") || call.startsWith("98 ");
        boolean several = call.startsWith("449 "); // futex_waitv
        if (several || (futex && call.contains(SHARED_WAIT))) {
          ids.add(Integer.valueOf(String.valueOf(task.getFileName())));
        }
      } catch (IOException ended) {
        // It was there a moment ago.
      }
    }
    return ids;
  }
}
