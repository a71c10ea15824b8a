package dev.belfry.examples;

import dev.belfry.loop.EventLoop;
import dev.belfry.loop.StandardStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** Copies standard input to standard output, whatever kind of file either is. */
final class StdinEcho {
  private StdinEcho() {}

  public static void main(String[] args) throws IOException {
    // @start region="stdin-echo"
    try (EventLoop loop = EventLoop.open();
        StandardStream in = StandardStream.in(loop);
        StandardStream out = StandardStream.out(loop)) {
      loop.spawn(
          "copy",
          () -> {
            MemorySegment buffer = Arena.ofAuto().allocate(4096);
            int bytes;
            while ((bytes = in.readSome(buffer).await()) >= 0) {
              out.writeAll(buffer.asSlice(0, bytes)).await();
            }
            loop.requestStop();
          });
      loop.run();
    }
    // @end
  }
}
