package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;
import org.jspecify.annotations.Nullable;

/**
 * Holds the word of a {@link RobustMutex} for the calling thread, without the C library. The C
 * library keeps its list of a thread's robust mutexes inside the mutexes, that is, in shared
 * memory. When it locks or unlocks one of them, it writes to wherever another process has made the
 * list point, or to the memory of another mutex that was truncated or unmapped meanwhile. Here the
 * list ({@code set_robust_list(2)}) is in private memory and contains just this mutex.
 *
 * <p>Use it on one thread, which has one hold at a time, outlives it, and never locks a robust
 * mutex of the C library. If the thread dies first, the kernel marks the word.
 */
public final class RobustHold implements AutoCloseable {
  /**
   * The head of the list, followed by our only entry, which is a pointer too:
   *
   * <pre>{@code
   * struct robust_list { struct robust_list *next; };
   * struct robust_list_head {
   *   struct robust_list list;
   *   long futex_offset;                     // from each entry to its word
   *   struct robust_list *list_op_pending;
   * };
   * }</pre>
   */
  static final StructLayout HEAD =
      MemoryLayout.structLayout(
          ADDRESS.withName("list"),
          JAVA_LONG.withName("futex_offset"),
          ADDRESS.withName("list_op_pending"));

  private static final VarHandle INT = JAVA_INT.varHandle();

  private final Sys sys;
  private final Arena list;
  private final MemorySegment word;
  private final int thread;

  private RobustHold(Sys sys, Arena list, MemorySegment word) {
    this.sys = sys;
    this.list = list;
    this.word = word;
    this.thread = sys.gettid();
  }

  /** Takes the mutex of a word; null if another thread holds it. */
  public static @Nullable RobustHold tryTake(Sys sys, MemorySegment word) throws ErrnoException {
    Arena list = Arena.ofConfined();
    var hold = new RobustHold(sys, list, word);
    try {
      hold.enlist(); // before the word is ours: the kernel skips words that are not
      if (hold.take()) {
        return hold;
      }
    } catch (ErrnoException e) {
      list.close();
      throw e;
    }
    hold.abandon();
    return null;
  }

  private void enlist() throws ErrnoException {
    MemorySegment head = list.allocate(HEAD.byteSize() + ADDRESS.byteSize(), Long.BYTES);
    MemorySegment entry = head.asSlice(HEAD.byteSize());
    entry.set(ADDRESS, 0, head);
    head.set(ADDRESS, offset("list"), entry);
    head.set(JAVA_LONG, offset("futex_offset"), word.address() - entry.address());
    tell(head);
  }

  private static long offset(String field) {
    return HEAD.byteOffset(PathElement.groupElement(field));
  }

  private void tell(MemorySegment head) throws ErrnoException {
    Calls.call("set_robust_list", "one mutex", () -> sys.setRobustList(head, HEAD.byteSize()));
  }

  private boolean take() {
    while (true) {
      int now = (int) INT.getVolatile(word, 0L);
      if ((now & RobustMutex.OWNER_MASK) != 0) {
        return false;
      }
      if (INT.compareAndSet(word, 0L, now, (now & RobustMutex.WAITERS) | thread)) {
        return true;
      }
    }
  }

  /**
   * Releases the mutex. If it is no longer ours, because it was initialised anew or overwritten, it
   * is left alone.
   */
  @Override
  public void close() throws ErrnoException {
    while (true) {
      int now = (int) INT.getVolatile(word, 0L);
      if ((now & RobustMutex.OWNER_MASK) != thread) {
        break;
      }
      if (INT.compareAndSet(word, 0L, now, 0)) {
        if ((now & RobustMutex.WAITERS) != 0) {
          Futex.wake(sys, word, Integer.MAX_VALUE);
        }
        break;
      }
    }
    abandon();
  }

  /** Gives up the mutex without touching its word, because its memory is gone. */
  public void abandon() throws ErrnoException {
    tell(MemorySegment.NULL);
    list.close();
  }
}
