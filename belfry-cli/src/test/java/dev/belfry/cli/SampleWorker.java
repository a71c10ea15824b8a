package dev.belfry.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Worker;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A worker that reports how it was started. */
final class SampleWorker {
  private SampleWorker() {}

  public static void main(String[] args) throws IOException {
    long descriptors = ResourceLimit.DESCRIPTORS.get(Sys.forAnyThread()).soft();
    String text =
        args[0] + " " + System.getenv("GREETING") + " " + descriptors + " " + dataMebibytes();
    Worker.main(args).on("about", _ -> text.getBytes(UTF_8)).run();
  }

  /** Returns the limit of its private memory, according to the kernel. */
  private static long dataMebibytes() throws IOException {
    String limits = Files.readString(Path.of("/proc/self/limits"));
    return Long.parseLong(limits.replaceFirst("(?s).*Max data size +(\\d+).*", "$1")) >> 20;
  }
}
