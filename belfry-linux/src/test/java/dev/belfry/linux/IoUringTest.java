package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

// Each test on a thread of its own: when the kernel tears down an io_uring, it interrupts the
// thread that used it, some time later.
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
final class IoUringTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int GROUP = 7;

  private final Arena arena = Arena.ofAuto();

  @TempDir Path directory;

  /** Many containers refuse io_uring; the environment says where skipping is an error. */
  @BeforeAll
  static void leaveOutWhereItIsRefused() {
    assumeThat(
            "required".equals(System.getenv("BELFRY_IO_URING"))
                || IoUring.unavailabilityCause(SYS).isEmpty())
        .isTrue();
  }

  /** Waits for a number of completions; returns their results by token. */
  private static Map<Long, Integer> results(IoUring ring, int count) {
    var results = new TreeMap<Long, Integer>();
    while (results.size() < count) {
      assertThat(ring.enter(1, 10_000_000_000L)).isNotNegative();
      while (ring.completions().next()) {
        results.put(ring.completions().token(), ring.completions().result());
      }
    }
    return results;
  }

  private static MemorySegment text(Arena arena, String text) {
    return arena.allocateFrom(text, StandardCharsets.US_ASCII).asSlice(0, text.length());
  }

  private static String text(MemorySegment memory, int length) {
    return new String(
        memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.US_ASCII);
  }

  @ParameterizedTest
  @EnumSource
  void requestsOfOneCallCompleteEachWithItsToken(IoUring.Use use) throws IOException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (IoUring ring = IoUring.open(SYS, use, 8, 16);
        Fd first = pair.first();
        Fd second = pair.second()) {
      ring.registerForThisThread();
      MemorySegment buffer = arena.allocate(16);
      ring.submissions().receive(1, second.number(), buffer);
      ring.submissions().send(2, first.number(), text(arena, "hello"));
      ring.submissions().receive(3, second.number(), buffer);
      assertThat(ring.submissions().size()).isEqualTo(3);
      assertThat(results(ring, 3)).containsEntry(1L, -Errno.EAGAIN).containsEntry(3L, 5);
      assertThat(text(buffer, 5)).isEqualTo("hello");
      assertThat(ring.submissions().size()).isZero();
    }
  }

  @Test
  void aFileIsOpenedReadAndWritten() throws IOException {
    Path path = Files.writeString(directory.resolve("file"), "0123456789");
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.ANY_THREAD, 8, 16)) {
      var request =
          OpenFile.request(arena, OpenFile.WORKING_DIRECTORY, path, OpenFlags.READ_WRITE, 0, 0);
      ring.submissions().open(1, request);
      int number = results(ring, 1).getOrDefault(1L, -1);
      try (Fd file = Fd.own(SYS, number, "opened")) {
        assertThat(FdFlags.isCloseOnExec(SYS, file.number())).isTrue();
        MemorySegment buffer = arena.allocate(4);
        SubmissionQueue queue = ring.submissions();
        queue.write(1, number, text(arena, "abc"), 3, SubmissionQueue.Waiting.IF_NEEDED);
        assertThat(results(ring, 1)).containsEntry(1L, 3);
        queue.read(2, number, buffer, 2, SubmissionQueue.Waiting.ASIDE);
        assertThat(results(ring, 1)).containsEntry(2L, 4);
        assertThat(text(buffer, 4)).isEqualTo("2abc");
        var pieces = new Iovecs(arena, 2);
        pieces.add(arena.allocate(1));
        pieces.add(buffer);
        queue.read(3, number, pieces, SubmissionQueue.Waiting.IF_NEEDED);
        assertThat(results(ring, 1)).containsEntry(3L, 5);
        assertThat(text(buffer, 4)).isEqualTo("12ab");
      }
    }
  }

  @Test
  void whatTheKernelHasNotTakenIsTakenBack() throws IOException {
    Pipe pipe = Pipe.open(SYS, false);
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.ANY_THREAD, 8, 16);
        Fd reader = pipe.reader();
        Fd writer = pipe.writer()) {
      ring.submissions().poll(1, writer.number(), Epoll.OUT);
      ring.submissions().poll(2, reader.number(), Epoll.IN);
      ring.submissions().cancel(3, 2);
      assertThat(ring.submissions().takeBack()).isEqualTo(3);
      assertThat(ring.submissions().takeBack()).isEqualTo(2);
      assertThat(results(ring, 1)).containsEntry(1L, Epoll.OUT);
      assertThatThrownBy(() -> ring.submissions().takeBack())
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void whatWaitsIsToldOrWithdrawn() throws IOException {
    Pipe pipe = Pipe.open(SYS, false);
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.OPENING_THREAD, 8, 16);
        Fd reader = pipe.reader();
        Fd writer = pipe.writer()) {
      ring.submissions().poll(1, reader.number(), Epoll.IN);
      assertThat(ring.enter(0, 0)).isEqualTo(1);
      assertThat(ring.completions().next()).isFalse();
      assertThat(ring.hasWork()).isFalse();
      assertThat(ring.enter(1, 1_000_000)).isEqualTo(-Errno.ETIME);
      SYS.write(writer.number(), arena.allocate(1), 1);
      assertThat(ring.hasWork()).isTrue();
      assertThat(results(ring, 1)).containsEntry(1L, Epoll.IN);
      ring.submissions().poll(2, writer.number(), Epoll.IN);
      ring.submissions().cancel(3, 2);
      assertThat(results(ring, 2)).containsEntry(2L, -Errno.ECANCELED).containsEntry(3L, 0);
      int full = 0;
      while (!ring.submissions().isFull()) {
        ring.submissions().cancel(4, 99);
        full++;
      }
      assertThat(full).isEqualTo(8);
      assertThatThrownBy(() -> ring.submissions().cancel(4, 99))
          .isInstanceOf(IllegalStateException.class);
    }
  }

  @Test
  void theKernelTakesBuffersThatItWasGiven() throws IOException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.STREAM, false);
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.OPENING_THREAD, 8, 16);
        BufferRing buffers = BufferRing.open(SYS, ring, GROUP, 2);
        Fd first = pair.first();
        Fd second = pair.second()) {
      MemorySegment buffer = arena.allocate(4);
      buffers.give(5, buffer);
      ring.submissions().receiveAlways(1, second.number(), buffers.group());
      SYS.send(first.number(), text(arena, "abcdef"), 6, 0);
      CompletionQueue completions = ring.completions();
      assertThat(ring.enter(1, IoUring.FOREVER)).isEqualTo(1);
      assertThat(completions.next()).isTrue();
      assertThat(completions.result()).isEqualTo(4);
      assertThat(CompletionQueue.hasBuffer(completions.flags())).isTrue();
      assertThat(CompletionQueue.buffer(completions.flags())).isEqualTo(5);
      assertThat(CompletionQueue.hasMore(completions.flags())).isTrue();
      assertThat(text(buffer, 4)).isEqualTo("abcd");
      // There is more data, and no buffer for it.
      assertThat(completions.isEmpty() ? ring.enter(1, IoUring.FOREVER) : 0).isNotNegative();
      assertThat(completions.next()).isTrue();
      assertThat(completions.result()).isEqualTo(-Errno.ENOBUFS);
      assertThat(CompletionQueue.hasMore(completions.flags())).isFalse();
    }
  }

  @Test
  void aWordThatChangesEndsTheWaitForIt() throws IOException {
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.OPENING_THREAD, 8, 16)) {
      MemorySegment word = arena.allocate(ValueLayout.JAVA_INT);
      ring.submissions().futexWait(1, word, 3);
      assertThat(results(ring, 1)).containsEntry(1L, -Errno.EAGAIN);
      ring.submissions().futexWait(2, word, 0);
      assertThat(ring.enter(0, 0)).isEqualTo(1);
      assertThat(ring.completions().next()).isFalse();
      word.set(ValueLayout.JAVA_INT, 0, 1);
      assertThat(Futex.wake(SYS, word, 1)).isEqualTo(1);
      assertThat(results(ring, 1)).containsEntry(2L, 0);
    }
  }

  @Test
  void memoryThatWasFreedIsRefused() throws IOException {
    try (IoUring ring = IoUring.open(SYS, IoUring.Use.ANY_THREAD, 8, 16)) {
      MemorySegment freed;
      try (Arena gone = Arena.ofConfined()) {
        freed = gone.allocate(8);
      }
      assertThatThrownBy(() -> ring.submissions().receive(1, 0, freed))
          .isInstanceOf(IllegalStateException.class);
      assertThat(ring.submissions().size()).isZero();
    }
  }
}
