package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class MessageTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofConfined();
  private Fd first;
  private Fd second;

  @BeforeEach
  void open() throws ErrnoException {
    Sockets.Pair pair = Sockets.pair(SYS, Sockets.Type.SEQUENCED_PACKETS, false);
    first = pair.first();
    second = pair.second();
  }

  @AfterEach
  void close() {
    first.close();
    second.close();
    arena.close();
  }

  private Message message(int descriptors, MemorySegment... pieces) {
    var message = new Message(arena, Math.max(1, pieces.length), descriptors);
    for (MemorySegment piece : pieces) {
      message.data().add(piece);
    }
    return message;
  }

  @Test
  void itIsGatheredFromPiecesAndScatteredIntoPieces() {
    Message out = message(0, arena.allocateFrom("ab").asSlice(0, 2), arena.allocateFrom("cdef"));
    assertThat(out.send(SYS, first.number())).isEqualTo(7);

    MemorySegment head = arena.allocate(4);
    MemorySegment tail = arena.allocate(8);
    Message in = message(0, head.asSlice(0, 3), tail);
    assertThat(in.receive(SYS, second.number())).isEqualTo(7);

    assertThat(head.getString(0)).isEqualTo("abc");
    assertThat(tail.getString(0)).isEqualTo("def");
  }

  @Test
  void descriptorsArriveAsWorkingCopiesThatAreCloseOnExec() throws ErrnoException {
    try (EventFd one = EventFd.create(SYS);
        EventFd two = EventFd.create(SYS)) {
      Message out = message(2, arena.allocate(1));
      out.addDescriptor(one.number());
      out.addDescriptor(two.number());
      assertThat(out.send(SYS, first.number())).isEqualTo(1);

      Message in = message(4, arena.allocate(1));
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).isEqualTo(2);
      assertThat(in.areDescriptorsTruncated()).isFalse();
      try (Fd copyOfOne = Fd.own(SYS, in.descriptor(0), "copy");
          Fd copyOfTwo = Fd.own(SYS, in.descriptor(1), "copy")) {
        assertThat(copyOfOne.number()).isNotEqualTo(one.number());
        assertThat(FdFlags.isCloseOnExec(SYS, copyOfOne.number())).isTrue();
        assertThat(FdFlags.isCloseOnExec(SYS, copyOfTwo.number())).isTrue();
        MemorySegment count = arena.allocateFrom(ValueLayout.JAVA_LONG, 42);
        Io.write(SYS, copyOfTwo.number(), count);
        assertThat(one.reset()).isEqualTo(-Errno.EAGAIN);
        assertThat(two.reset()).isEqualTo(42);
      }
      assertThatThrownBy(() -> in.descriptor(2)).isInstanceOf(IndexOutOfBoundsException.class);
    }
  }

  /** Regression: behind the sender's credentials they were overlooked, and stayed open forever. */
  @Test
  void descriptorsAreFoundBehindWhatElseTheSocketWasToldToGive() throws ErrnoException {
    int passCredentials = 16; // SO_PASSCRED
    Sockets.setOption(SYS, second.number(), Sockets.SOL_SOCKET, passCredentials, 1);
    try (EventFd event = EventFd.create(SYS)) {
      Message out = message(2, arena.allocate(1));
      out.addDescriptor(event.number());
      out.addDescriptor(event.number());
      assertThat(out.send(SYS, first.number())).isEqualTo(1);

      Message in = message(16, arena.allocate(1));
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).isEqualTo(2);
      assertThat(FdFlags.isCloseOnExec(SYS, in.descriptor(0))).isTrue();
      assertThat(FdFlags.isCloseOnExec(SYS, in.descriptor(1))).isTrue();
      in.closeDescriptors(SYS);

      out.clear();
      out.data().add(arena.allocate(1));
      assertThat(out.send(SYS, first.number())).isEqualTo(1);
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).as("none came this time").isZero();
    }
  }

  @Test
  void oneObjectServesManyMessages() throws ErrnoException {
    MemorySegment byteOut = arena.allocate(1);
    MemorySegment byteIn = arena.allocate(1);
    Message out = message(1, byteOut);
    Message in = message(1, byteIn);
    try (EventFd event = EventFd.create(SYS)) {
      out.addDescriptor(event.number());
      assertThat(out.send(SYS, first.number())).isEqualTo(1);
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).isEqualTo(1);
      Fd.own(SYS, in.descriptor(0), "copy").close();

      out.clear();
      out.data().add(byteOut);
      assertThat(out.send(SYS, first.number())).isEqualTo(1);
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).as("none came this time").isZero();

      assertThat(in.receive(SYS, second.number())).isEqualTo(-Errno.EAGAIN);
      assertThat(in.descriptorCount()).isZero();
    }
  }

  @Test
  void aMessageLongerThanTheRoomIsMarked() {
    message(0, arena.allocate(10)).send(SYS, first.number());
    Message in = message(0, arena.allocate(4));
    assertThat(in.receive(SYS, second.number())).isEqualTo(4);
    assertThat(in.isDataTruncated()).isTrue();

    message(0, arena.allocate(4)).send(SYS, first.number());
    assertThat(in.receive(SYS, second.number())).isEqualTo(4);
    assertThat(in.isDataTruncated()).isFalse();
  }

  /** Each descriptor takes four bytes, in room that is rounded up to eight. */
  @Test
  void noMoreDescriptorsComeThanThereIsRoomFor() throws ErrnoException {
    try (EventFd event = EventFd.create(SYS)) {
      for (int room = 0; room < 4; room++) {
        Message out = message(5, arena.allocate(1));
        for (int i = 0; i < 5; i++) {
          out.addDescriptor(event.number());
        }
        assertThat(out.send(SYS, first.number())).isEqualTo(1);

        Message in = message(room, arena.allocate(1));
        assertThat(in.receive(SYS, second.number())).isEqualTo(1);
        assertThat(in.areDescriptorsTruncated()).isTrue();
        assertThat(in.descriptorCount()).isEqualTo(room);
        for (int i = 0; i < room; i++) {
          Fd.own(SYS, in.descriptor(i), "copy").close();
        }
      }
    }
  }

  @Test
  void noMoreDescriptorsCanBeAddedThanThereIsRoomFor() {
    Message out = message(1, arena.allocate(1));
    out.addDescriptor(0);
    assertThatThrownBy(() -> out.addDescriptor(0)).isInstanceOf(IndexOutOfBoundsException.class);
    assertThat(out.descriptorCount()).isEqualTo(1);
  }

  @Test
  void asManyDescriptorsGoAtOnceAsTheKernelTakes() throws ErrnoException {
    try (EventFd event = EventFd.create(SYS)) {
      Message out = message(Message.MAX_DESCRIPTORS, arena.allocate(1));
      for (int i = 0; i < Message.MAX_DESCRIPTORS; i++) {
        out.addDescriptor(event.number());
      }
      assertThat(out.send(SYS, first.number())).isEqualTo(1);

      Message in = message(Message.MAX_DESCRIPTORS, arena.allocate(1));
      assertThat(in.receive(SYS, second.number())).isEqualTo(1);
      assertThat(in.descriptorCount()).isEqualTo(Message.MAX_DESCRIPTORS);
      for (int i = 0; i < in.descriptorCount(); i++) {
        Fd.own(SYS, in.descriptor(i), "copy").close();
      }
    }
    assertThatThrownBy(() -> new Message(arena, 1, Message.MAX_DESCRIPTORS + 1))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void sendingToNobodyIsAnErrorAndNoSignal() {
    second.close();
    assertThat(message(0, arena.allocate(1)).send(SYS, first.number())).isEqualTo(-Errno.EPIPE);
  }
}
