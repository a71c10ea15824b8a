package dev.belfry.linux;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;

/**
 * The signal state of one thread, as shown in {@code /proc}.
 *
 * @param tid the kernel's thread id
 * @param name the kernel's name for the thread, at most 15 bytes
 * @param blocked the signals it has blocked
 * @param ignored the signals its process ignores
 * @param caught the signals its process has handlers for
 */
public record ThreadSignals(int tid, String name, SigSet blocked, SigSet ignored, SigSet caught) {

  /** All threads of this process, including those of the JVM. */
  public static List<ThreadSignals> ofThisProcess() throws IOException {
    return ofProcess("self");
  }

  /** All threads of a process. */
  public static List<ThreadSignals> ofProcess(long pid) throws IOException {
    return ofProcess(Long.toString(pid));
  }

  private static List<ThreadSignals> ofProcess(String pid) throws IOException {
    var threads = new ArrayList<ThreadSignals>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", pid, "task"))) {
      for (Path task : tasks) {
        try {
          // Lenient decoding: a name can be any bytes, and the JVM may cut its own inside a
          // character.
          threads.add(parse(new String(Files.readAllBytes(task.resolve("status")), UTF_8)));
        } catch (IOException e) {
          // A thread that ends between open and read causes ESRCH, for which Java has no exception
          // class.
          if (Files.exists(task)) {
            throw e;
          }
        }
      }
    }
    return threads;
  }

  /** Plain loops, because this runs early in a program, when streams are slow to start. */
  private static ThreadSignals parse(String status) {
    var fields = new HashMap<String, String>();
    for (String line : status.split("\n", -1)) {
      int colon = line.indexOf(':');
      if (colon > 0) {
        fields.putIfAbsent(line.substring(0, colon), line.substring(colon + 1).stripLeading());
      }
    }
    return new ThreadSignals(
        Integer.parseInt(fields.getOrDefault("Pid", "0")),
        fields.getOrDefault("Name", "?"),
        SigSet.ofHex(fields.getOrDefault("SigBlk", "0")),
        SigSet.ofHex(fields.getOrDefault("SigIgn", "0")),
        SigSet.ofHex(fields.getOrDefault("SigCgt", "0")));
  }
}
