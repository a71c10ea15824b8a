package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;

/**
 * Memory for the events reported by {@link Epoll}, an array of ({@code epoll_event(3type)}):
 *
 * <pre>{@code
 * struct epoll_event {
 *   uint32_t     events;
 *   epoll_data_t data;     // 64 bits, ours to choose
 * };                       // packed on x86-64: 12 bytes, data at 4; elsewhere 16 bytes, data at 8
 * }</pre>
 */
public final class EpollEvents {
  private static final StructLayout LAYOUT = layout(Arch.current());
  private static final long EVENT_BYTES = LAYOUT.byteSize();
  private static final long EVENTS = LAYOUT.byteOffset(PathElement.groupElement("events"));
  private static final long DATA = LAYOUT.byteOffset(PathElement.groupElement("data"));

  private final MemorySegment events;
  private final int capacity;

  /** Allocates room for a number of events. */
  public EpollEvents(Arena arena, int capacity) {
    this.events = arena.allocate(EVENT_BYTES * capacity, Long.BYTES);
    this.capacity = capacity;
  }

  static StructLayout layout(Arch arch) {
    var events = JAVA_INT.withName("events");
    var data = JAVA_LONG_UNALIGNED.withName("data");
    return switch (arch) {
      case X86_64 -> MemoryLayout.structLayout(events, data);
      case AARCH64 -> MemoryLayout.structLayout(events, MemoryLayout.paddingLayout(4), data);
    };
  }

  MemorySegment segment() {
    return events;
  }

  /** The number of events there is room for. */
  public int capacity() {
    return capacity;
  }

  /** The events that occurred: {@link Epoll#IN}, {@link Epoll#OUT} and so on. */
  public int events(int index) {
    return events.get(JAVA_INT, index * EVENT_BYTES + EVENTS);
  }

  /** The token the descriptor was registered with. */
  public long token(int index) {
    return events.get(JAVA_LONG_UNALIGNED, index * EVENT_BYTES + DATA);
  }

  void set(int index, int mask, long token) {
    events.set(JAVA_INT, index * EVENT_BYTES + EVENTS, mask);
    events.set(JAVA_LONG_UNALIGNED, index * EVENT_BYTES + DATA, token);
  }
}
