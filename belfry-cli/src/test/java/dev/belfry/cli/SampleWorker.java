package dev.belfry.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Worker;
import java.io.IOException;

/** A worker that says how it was started. */
final class SampleWorker {
  private SampleWorker() {}

  public static void main(String[] args) throws IOException {
    long descriptors = ResourceLimit.DESCRIPTORS.get(Sys.forAnyThread()).soft();
    String text = args[0] + " " + System.getenv("GREETING") + " " + descriptors;
    Worker.main(args).on("about", _ -> text.getBytes(UTF_8)).run();
  }
}
