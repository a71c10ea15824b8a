package dev.belfry.bench.death;

import dev.belfry.bench.harness.JavaCommand;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A process to be killed.
 *
 * @param kind java or c
 * @param megabytes the memory that it has touched, besides what it needs anyway
 */
record Victim(String kind, int megabytes) {
  private static final String JAVA = "java";

  /** All kinds in all sizes. */
  static List<Victim> all() {
    return Stream.of(JAVA, "c")
        .flatMap(kind -> Stream.of(16, 256, 1024).map(megabytes -> new Victim(kind, megabytes)))
        .toList();
  }

  Map<String, Object> params() {
    var params = new LinkedHashMap<String, Object>();
    params.put("worker", kind);
    params.put("megabytes", megabytes);
    return params;
  }

  /** The command that starts it. */
  List<String> command(Path cWorker) {
    String size = Integer.toString(megabytes);
    return kind.equals(JAVA)
        ? JavaCommand.of(List.of("-XX:+UseSerialGC"), JavaWorker.class, size)
        : List.of(cWorker.toString(), size);
  }
}
