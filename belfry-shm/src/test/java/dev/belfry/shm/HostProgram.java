package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Creates or attaches to a segment in a process of its own, and says what came of it. */
final class HostProgram {
  private HostProgram() {}

  public static void main(String[] arguments) throws Exception {
    Path path = Path.of(arguments[1]);
    try {
      if (arguments[0].equals("create")) {
        Placement placement = Placement.valueOf(arguments.length > 2 ? arguments[2] : "V1");
        Segment segment =
            Segment.create(Sys.forAnyThread(), path, placement, SegmentConfig.DEFAULT);
        segment.peers().reserve();
        System.out.println("created");
        Thread.sleep(Long.MAX_VALUE); // until it is killed
      } else {
        Segment.attach(Sys.forAnyThread(), path).close();
        System.out.println("attached");
      }
    } catch (IOException e) {
      System.out.println(e.getMessage());
      try (Stream<Path> left = Files.list(path.resolveSibling(""))) {
        System.out.println("left: " + left.toList());
      }
    }
  }
}
