package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.TestProcess;
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

  /** Waits until so many threads of a process sleep; returns their kernel ids. */
  static List<Integer> await(TestProcess process, int count) throws IOException {
    long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
    List<Integer> ids = ids(process.pid());
    while (ids.size() < count) {
      assertThat(System.nanoTime()).as("time until %d sleep", count).isLessThan(deadline);
      Thread.onSpinWait();
      ids = ids(process.pid());
    }
    return ids;
  }

  private static List<Integer> ids(long pid) throws IOException {
    List<Path> tasks;
    try (Stream<Path> listed = Files.list(Path.of("/proc/" + pid + "/task"))) {
      tasks = listed.toList();
    }
    var ids = new ArrayList<Integer>();
    for (Path task : tasks) {
      int thread = Integer.parseInt(String.valueOf(task.getFileName()));
      if (sleeps(pid, thread)) {
        ids.add(thread);
      }
    }
    return ids;
  }

  /** Whether a thread sleeps. */
  static boolean sleeps(long pid, int thread) {
    try {
      String call = Files.readString(Path.of("/proc/%d/task/%d/syscall".formatted(pid, thread)));
      boolean futex = call.startsWith("202 ") || call.startsWith("98 ");
      boolean several = call.startsWith("449 "); // futex_waitv
      return several || (futex && call.contains(SHARED_WAIT));
    } catch (IOException ended) {
      return false;
    }
  }
}
