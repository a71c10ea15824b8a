package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/** Creates or attaches to a segment in a process of its own, and prints the result. */
final class HostProgram {
  /** The number of hosts in a race. */
  static final int RACERS = 5;

  private HostProgram() {}

  public static void main(String[] arguments) throws Exception {
    Path path = Path.of(arguments[1]);
    if (arguments[0].equals("race")) {
      System.out.println("ready");
      System.in.read();
      for (int i = 0; i < RACERS; i++) {
        Thread.ofPlatform().start(() -> System.out.println(race(path)));
      }
      Thread.sleep(Long.MAX_VALUE); // until killed
    }
    try {
      if (arguments[0].equals("create")) {
        Placement placement = Placement.valueOf(arguments.length > 2 ? arguments[2] : "V1");
        Segment segment =
            Segment.create(Sys.forAnyThread(), path, placement, SegmentConfig.DEFAULT);
        segment.peers().reserve();
        System.out.println("created");
        Thread.sleep(Long.MAX_VALUE); // until killed
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

  /** The winner keeps the segment as long as this process lives. */
  private static String race(Path path) {
    try {
      Segment.create(Sys.forAnyThread(), path, Placement.V1, SegmentConfig.DEFAULT);
      return "won";
    } catch (SegmentException e) {
      return "refused " + e.reason();
    } catch (IOException e) {
      return "failed " + e.getMessage();
    }
  }
}
