package dev.belfry.examples;

import dev.belfry.loop.Coroutine;
import dev.belfry.loop.EventLoop;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Runs the given commands, all at once, and prints how each ended. */
final class RunChildren {
  private RunChildren() {}

  public static void main(String[] commands) throws IOException {
    // @start region="run-children"
    try (EventLoop loop = EventLoop.open()) {
      loop.spawn(
          "parent",
          () -> {
            List<Coroutine<Integer>> children = new ArrayList<>();
            for (String command : commands) {
              Process process = new ProcessBuilder("sh", "-c", command).inheritIO().start();
              children.add(loop.spawn(command, () -> loop.child(process).await()));
            }
            for (Coroutine<Integer> child : children) {
              System.out.println(child.name() + ": " + child.result().join());
            }
            loop.requestStop();
          });
      loop.run();
    }
    // @end
  }
}
