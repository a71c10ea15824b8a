package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Waits for many descriptors at once ({@code epoll(7)}). For one thread at a time. Nothing but
 * {@link #create} allocates or throws; negative results are {@code -errno}.
 */
public final class Epoll implements AutoCloseable {
  public static final int IN = 0x001;
  public static final int PRI = 0x002;
  public static final int OUT = 0x004;
  public static final int ERR = 0x008;
  public static final int HUP = 0x010;
  public static final int RDHUP = 0x2000;

  /** Edge-triggered: report changes, not states. */
  public static final int ET = 1 << 31;

  /** A timeout that never expires. */
  public static final long FOREVER = -1;

  private static final int EPOLL_CLOEXEC = 0x80000;
  private static final int EPOLL_CTL_ADD = 1;
  private static final int EPOLL_CTL_DEL = 2;
  private static final int EPOLL_CTL_MOD = 3;

  /** The size of the kernel's signal set, which it checks. */
  private static final long SIGSET_SIZE = 8;

  private final Sys sys;
  private final Fd fd;
  private final EpollEvents request;
  private final MemorySegment timeout;

  private Epoll(Sys sys, Fd fd) {
    this.sys = sys;
    this.fd = fd;
    Arena arena = Arena.ofAuto();
    this.request = new EpollEvents(arena, 1);
    this.timeout = Timespec.allocate(arena);
  }

  /** Creates an instance that watches nothing yet. */
  public static Epoll create(Sys sys) throws ErrnoException {
    int number = call("epoll_create1", "", () -> sys.epollCreate1(EPOLL_CLOEXEC));
    return new Epoll(sys, Fd.own(sys, number, "epoll"));
  }

  /** The descriptor of the instance itself. */
  public int number() {
    return fd.number();
  }

  /** Watches a descriptor for the given events, which are reported with the token. */
  public int add(int watched, int events, long token) {
    return control(EPOLL_CTL_ADD, watched, events, token);
  }

  /** Changes the events watched for; conditions that hold already are reported again. */
  public int modify(int watched, int events, long token) {
    return control(EPOLL_CTL_MOD, watched, events, token);
  }

  /**
   * Stops watching a descriptor. Do this before closing it: the registration belongs to the open
   * file description, and would keep reporting while a duplicate is open elsewhere.
   */
  public int delete(int watched) {
    return control(EPOLL_CTL_DEL, watched, 0, 0);
  }

  private int control(int operation, int watched, int events, long token) {
    request.set(0, events, token);
    return sys.epollCtl(fd.number(), operation, watched, request.segment());
  }

  /**
   * Waits for events with {@code epoll_pwait2}. An interrupted wait is reported, not repeated.
   *
   * @param timeoutNanos the longest wait in nanoseconds, or {@link #FOREVER}
   * @return the number of events in the batch, or {@code -errno}
   */
  public int await(EpollEvents batch, long timeoutNanos) {
    MemorySegment limit = MemorySegment.NULL;
    if (timeoutNanos >= 0) {
      Timespec.set(timeout, timeoutNanos);
      limit = timeout;
    }
    return sys.epollPwait2(
        fd.number(), batch.segment(), batch.capacity(), limit, MemorySegment.NULL, SIGSET_SIZE);
  }

  /** Waits with {@code epoll_wait}, in milliseconds; for kernels without epoll_pwait2. */
  public int awaitMillis(EpollEvents batch, int timeoutMillis) {
    return sys.epollWait(fd.number(), batch.segment(), batch.capacity(), timeoutMillis);
  }

  @Override
  public void close() {
    fd.close();
  }
}
