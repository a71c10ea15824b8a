package dev.belfry.bench.crash;

import dev.belfry.workers.JavaWorker;
import dev.belfry.workers.Request;
import dev.belfry.workers.Worker;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/** The worker to be killed; it answers with its process id. */
final class CrashWorker {
  /** Appends a line with the number of the call to a file, then answers. */
  static final String APPEND = "append";

  /** Answers only. */
  static final String ANSWER = "answer";

  private CrashWorker() {}

  /** A small JVM, so that the kernel has less to tear down and the next one starts sooner. */
  static JavaWorker command(Path effects) {
    return JavaWorker.of(
            CrashWorker.class, "-Xmx32m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        .withArguments(List.of(effects.toString()))
        .withCrashDirectory(effects.resolveSibling("crashes"));
  }

  public static void main(String[] arguments) throws IOException {
    Path effects = Path.of(arguments[0]);
    byte[] pid =
        ByteBuffer.allocate(Integer.BYTES)
            .putInt(Math.toIntExact(ProcessHandle.current().pid()))
            .array();
    try (FileChannel file =
        FileChannel.open(effects, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      Worker.main(arguments)
          .on(
              APPEND,
              request -> {
                file.write(ByteBuffer.wrap(line(request)));
                return pid;
              })
          .on(ANSWER, _ -> pid)
          .run();
    }
  }

  private static byte[] line(Request request) {
    long number = ByteBuffer.wrap(request.payload()).getLong();
    return (number + "\n").getBytes(StandardCharsets.US_ASCII);
  }
}
