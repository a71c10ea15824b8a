package dev.belfry.loop;

import dev.belfry.linux.BufferRing;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.IoUring;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The buffers in which the kernel puts data received ahead of reads. Each is either with the kernel
 * or held by a receiver until its data was copied out.
 */
final class ReceiveBuffers {
  static final int BUFFER_BYTES = 2048;
  private static final int COUNT = 256;
  private static final int GROUP = 0;

  private final MemorySegment memory = Arena.ofAuto().allocate((long) COUNT * BUFFER_BYTES, 4096);
  private final MemorySegment[] buffers = new MemorySegment[COUNT];
  private final boolean[] held = new boolean[COUNT];

  /** The buffers of the ring in use; null until it needs some. */
  private @Nullable BufferRing given;

  ReceiveBuffers() {
    for (int i = 0; i < COUNT; i++) {
      buffers[i] = memory.asSlice((long) i * BUFFER_BYTES, BUFFER_BYTES);
    }
  }

  /** Gives a ring all buffers that are not held, at its first use; returns the buffer group. */
  int groupFor(Sys sys, IoUring ring) throws ErrnoException {
    BufferRing known = given;
    if (known == null) {
      known = BufferRing.open(sys, ring, GROUP, COUNT);
      for (int i = 0; i < COUNT; i++) {
        if (!held[i]) {
          known.give(i, buffers[i]);
        }
      }
      given = known;
    }
    return known.group();
  }

  /** Takes the buffers back from the ring, which must have no request that uses them. */
  void takeBack() {
    if (given != null) {
      given.close();
      given = null;
    }
  }

  /** The memory of all buffers. */
  MemorySegment memory() {
    return memory;
  }

  /** The offset of a buffer in the memory. */
  static long start(int buffer) {
    return (long) buffer * BUFFER_BYTES;
  }

  /** The kernel has put data into the buffer. */
  void hold(int buffer) {
    held[buffer] = true;
  }

  /** Gives back a buffer whose data was copied out. */
  void release(int buffer) {
    held[buffer] = false;
    assert poison(buffer);
    if (given != null) {
      given.give(buffer, buffers[buffer]);
    }
  }

  /** With assertions enabled, exposes reads from a buffer that was given back. */
  private boolean poison(int buffer) {
    buffers[buffer].fill((byte) 0xdb);
    return true;
  }
}
