package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.EveryBackend;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** A byte sent out of band splits what a read returns, and hides nothing. */
final class UrgentDataTest {
  private static final int MSG_OOB = 1;

  private final Arena arena = Arena.ofAuto();

  // r[verify loop.op.no-lost-edge]
  @EveryBackend
  void whatFollowsAnUrgentByteIsReadToo(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      StreamSocket.Pair pair = DescriptorSupport.tcp(loop);
      MemorySegment buffer = arena.allocate(64);
      var received = new StringBuilder();
      TransferOperation read = pair.first().readSome(buffer);
      read.start(
          new Completion<>() {
            @Override
            public void completed(Operation<? extends Integer> done) {
              if (done.hasValue()) {
                received.append(text(buffer.asSlice(0, read.bytes())));
                read.start(this);
              }
            }
          });
      loop.runSome(); // it now waits for an event

      int fd = pair.second().descriptor();
      Sys sys = Sys.forAnyThread();
      send(sys, fd, "before", 0);
      send(sys, fd, "!", MSG_OOB);
      send(sys, fd, "after", 0);
      LoopSupport.drive(loop, () -> received.length() >= "beforeafter".length());
      assertThat(received.toString()).isEqualTo("beforeafter");
      pair.first().close();
      pair.second().close();
    }
  }

  private void send(Sys sys, int fd, String text, int flags) {
    byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
    MemorySegment memory = arena.allocate(bytes.length);
    memory.copyFrom(MemorySegment.ofArray(bytes));
    assertThat(sys.send(fd, memory, bytes.length, flags)).isEqualTo(bytes.length);
  }

  private static String text(MemorySegment memory) {
    return new String(memory.toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
  }
}
