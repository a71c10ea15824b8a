package dev.belfry.bench.files;

import com.sun.management.OperatingSystemMXBean;
import dev.belfry.bench.harness.ContenderMain;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;

/**
 * The process of a contender. Answers {@code cached NANOS} and {@code direct NANOS} with the pages
 * read per second and the processor time for each, in nanoseconds.
 */
public final class FilesMain {
  private FilesMain() {}

  public static void main(String[] arguments) throws Exception {
    FileReads reads = FileContender.of(arguments[0]).reads();
    Path file = Path.of(arguments[1]);
    ContenderMain.serve(question -> answer(reads, file, question.split(" ")));
    System.exit(0);
  }

  private static String answer(FileReads reads, Path file, String[] question) throws Exception {
    var machine = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    long began = System.nanoTime();
    long cpu = machine.getProcessCpuTime();
    long count = reads.read(file, question[0].equals("direct"), Long.parseLong(question[1]));
    double cpuEach = (double) (machine.getProcessCpuTime() - cpu) / count;
    return count * 1e9 / (System.nanoTime() - began) + " " + cpuEach;
  }
}
