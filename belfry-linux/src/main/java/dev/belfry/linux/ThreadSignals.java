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
 * What {@code /proc} says about the signals of one thread.
 *
 * @param tid the kernel's id for the thread
 * @param name the kernel's name for it, at most 15 bytes
 * @param blocked the signals it has blocked
 * @param ignored the signals its process ignores
 * @param caught the signals its process has handlers for
 */
public record ThreadSignals(int tid, String name, SigSet blocked, SigSet ignored, SigSet caught) {

  /** Every thread of this process, of the Java program and of the JVM alike. */
  public static List<ThreadSignals> ofThisProcess() throws IOException {
    return ofProcess("self");
  }

  /** Every thread of a process. */
  public static List<ThreadSignals> ofProcess(long pid) throws IOException {
    return ofProcess(Long.toString(pid));
  }

  private static List<ThreadSignals> ofProcess(String pid) throws IOException {
    var threads = new ArrayList<ThreadSignals>();
    try (DirectoryStream<Path> tasks = Files.newDirectoryStream(Path.of("/proc", pid, "task"))) {
      for (Path task : tasks) {
        try {
          // Leniently: a name is any bytes, and the JVM cuts its own in the middle of a letter.
          threads.add(parse(new String(Files.readAllBytes(task.resolve("status")), UTF_8)));
        } catch (IOException e) {
          // A thread that ends between open and read gives ESRCH, which has no exception of its
          // own.
          if (Files.exists(task)) {
            throw e;
          }
        }
      }
    }
    return threads;
  }

  /** In plain loops: this is among the first things a program does, and streams take long then. */
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
