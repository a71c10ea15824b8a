package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class IoTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofConfined();
  private Fd file;

  @BeforeEach
  void open() throws ErrnoException {
    file = SharedFile.createAnonymous(SYS, "io-test");
  }

  @AfterEach
  void close() {
    file.close();
    arena.close();
  }

  private MemorySegment bytes(String text) {
    MemorySegment terminated = arena.allocateFrom(text);
    return terminated.asSlice(0, terminated.byteSize() - 1);
  }

  @Test
  void atAPlaceTheFilePositionStays() {
    assertThat(Io.writeAt(SYS, file.number(), bytes("tower"), 1L << 33)).isEqualTo(5);
    assertThat(Io.writeAt(SYS, file.number(), bytes("bell"), 0)).isEqualTo(4);
    MemorySegment room = arena.allocate(6);

    assertThat(Io.readAt(SYS, file.number(), room.asSlice(0, 5), 1L << 33)).isEqualTo(5);
    assertThat(room.getString(0)).isEqualTo("tower");
    assertThat(Io.read(SYS, file.number(), room.asSlice(0, 4))).isEqualTo(4);
    assertThat(room.getString(0)).startsWith("bell");
    assertThat(Io.readAt(SYS, file.number(), room, 1L << 34)).as("past the end").isZero();
  }

  @Test
  void piecesAreWrittenAndReadInOrder() {
    var out = new Iovecs(arena, 3);
    out.add(bytes("one"));
    out.add(bytes(""));
    out.add(bytes("twelve"));
    assertThat(out.count()).isEqualTo(3);
    assertThat(Io.write(SYS, file.number(), out)).isEqualTo(9);

    MemorySegment whole = arena.allocate(10);
    assertThat(Io.readAt(SYS, file.number(), whole, 0)).isEqualTo(9);
    assertThat(whole.getString(0)).isEqualTo("onetwelve");

    Io.writeAt(SYS, file.number(), bytes("abcdefghi"), 9);
    MemorySegment head = arena.allocate(5);
    MemorySegment tail = arena.allocate(6);
    var in = new Iovecs(arena, 2);
    in.add(head.asSlice(0, 4));
    in.add(tail.asSlice(0, 5));
    assertThat(Io.read(SYS, file.number(), in)).isEqualTo(9);
    assertThat(head.getString(0)).isEqualTo("abcd");
    assertThat(tail.getString(0)).isEqualTo("efghi");

    in.clear();
    assertThat(Io.read(SYS, file.number(), in)).as("no pieces").isZero();
  }

  @Test
  void mistakesAreReturned() {
    MemorySegment one = arena.allocate(1);
    var pieces = new Iovecs(arena, 1);
    pieces.add(one);
    assertThat(Io.read(SYS, 1_000_000, one)).isEqualTo(-Errno.EBADF);
    assertThat(Io.write(SYS, 1_000_000, one)).isEqualTo(-Errno.EBADF);
    assertThat(Io.read(SYS, 1_000_000, pieces)).isEqualTo(-Errno.EBADF);
    assertThat(Io.write(SYS, 1_000_000, pieces)).isEqualTo(-Errno.EBADF);
    assertThat(Io.readAt(SYS, file.number(), one, -1)).isEqualTo(-Errno.EINVAL);
    assertThat(Io.writeAt(SYS, file.number(), one, -1)).isEqualTo(-Errno.EINVAL);
  }

  @Test
  void memoryOfArraysAndTooManyPiecesAreRefused() {
    var pieces = new Iovecs(arena, 1);
    assertThatThrownBy(() -> pieces.add(MemorySegment.ofArray(new byte[4])))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("native memory");
    pieces.add(arena.allocate(1));
    assertThatThrownBy(() -> pieces.add(arena.allocate(1)))
        .isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(pieces.count()).isEqualTo(1);
    assertThatThrownBy(() -> new Iovecs(arena, 0)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> new Iovecs(arena, Iovecs.MAX + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void asManyPiecesGoAtOnceAsTheKernelTakes() {
    var pieces = new Iovecs(arena, Iovecs.MAX);
    MemorySegment one = bytes("x");
    for (int i = 0; i < Iovecs.MAX; i++) {
      pieces.add(one);
    }
    assertThat(Io.write(SYS, file.number(), pieces)).isEqualTo(Iovecs.MAX);
  }
}
