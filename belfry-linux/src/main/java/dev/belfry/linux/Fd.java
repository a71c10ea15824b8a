package dev.belfry.linux;

import static java.lang.System.Logger.Level.WARNING;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.lang.ref.Cleaner;
import java.util.List;
import java.util.stream.Stream;

/**
 * Owns one file descriptor and closes it once. Every descriptor that this package opens is
 * close-on-exec from the start.
 *
 * <p>The owner must not close a descriptor while another thread uses its number: the kernel reuses
 * the number of a closed descriptor. An {@code Fd} that becomes unreachable without being closed is
 * reported in the log with the place where it was opened. It is not closed then, because its number
 * may still be in use.
 */
public final class Fd implements AutoCloseable {
  private static final Cleaner LEAKS = Cleaner.create();
  private static final StackWalker STACK = StackWalker.getInstance();
  private static final int FRAMES_KEPT = 8;

  private final Sys sys;
  private final Ownership ownership;
  private final Cleaner.Cleanable leakDetector;

  private Fd(Sys sys, Ownership ownership) {
    this.sys = sys;
    this.ownership = ownership;
    this.leakDetector = LEAKS.register(this, ownership);
  }

  /**
   * Takes ownership of an open descriptor.
   *
   * @param sys makes the call that closes it
   * @param number the descriptor
   * @param what names it in messages, such as a path or an address
   */
  public static Fd own(Sys sys, int number, String what) {
    if (number < 0) {
      throw new IllegalArgumentException("not a descriptor: " + number);
    }
    return new Fd(sys, new Ownership(number, what));
  }

  /**
   * The descriptor's number.
   *
   * @throws IllegalStateException if it was closed or released
   */
  public int number() {
    int number = ownership.number;
    if (number < 0) {
      throw new IllegalStateException(ownership.what + " is closed");
    }
    return number;
  }

  /** Whether this still owns its descriptor. */
  public boolean isOpen() {
    return ownership.number >= 0;
  }

  /** Gives up ownership: from now on the caller is responsible for closing the number. */
  public int release() {
    int number = ownership.give();
    if (number < 0) {
      throw new IllegalStateException(ownership.what + " is closed");
    }
    leakDetector.clean();
    return number;
  }

  /**
   * Closes the descriptor; a second call does nothing. The system call is never repeated, because
   * Linux frees the number even if {@code close} reports an error. Such an error concerns data
   * written earlier; callers that care about it must sync the file first.
   *
   * @throws IllegalStateException if the number was not open, because other code closed it
   */
  @Override
  public void close() {
    int number = ownership.give();
    if (number >= 0) {
      leakDetector.clean();
      if (sys.close(number) == -Errno.EBADF) {
        throw new IllegalStateException(
            "descriptor %d of %s was closed by somebody else".formatted(number, ownership.what));
      }
    }
  }

  @Override
  public String toString() {
    return ownership.toString();
  }

  /** The state of the descriptor, which does not keep its {@code Fd} reachable. */
  private static final class Ownership implements Runnable {
    private static final VarHandle NUMBER;

    static {
      try {
        NUMBER = MethodHandles.lookup().findVarHandle(Ownership.class, "number", int.class);
      } catch (ReflectiveOperationException e) {
        throw new ExceptionInInitializerError(e);
      }
    }

    final String what;
    private final List<StackWalker.StackFrame> opened;

    /** The descriptor, or -1 once closed or released; exactly one thread makes that change. */
    private volatile int number;

    Ownership(int number, String what) {
      this.number = number;
      this.what = what;
      this.opened = STACK.walk(Ownership::callers);
    }

    private static List<StackWalker.StackFrame> callers(Stream<StackWalker.StackFrame> frames) {
      return frames.dropWhile(frame -> isOurs(frame.getClassName())).limit(FRAMES_KEPT).toList();
    }

    private static boolean isOurs(String className) {
      return className.equals(Fd.class.getName()) || className.equals(Ownership.class.getName());
    }

    int give() {
      return (int) NUMBER.getAndSet(this, -1);
    }

    /** Called when the {@code Fd} has become unreachable, or when it is closed or released. */
    @Override
    public void run() {
      if (number >= 0) {
        var where = new StringBuilder();
        opened.forEach(frame -> where.append("\n\tat ").append(frame));
        System.getLogger(Fd.class.getName())
            .log(WARNING, "{0} was never closed; it was opened{1}", this, where);
      }
    }

    @Override
    public String toString() {
      return number >= 0 ? "descriptor " + number + " of " + what : "closed descriptor of " + what;
    }
  }
}
