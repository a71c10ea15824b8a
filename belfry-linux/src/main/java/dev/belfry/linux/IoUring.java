package dev.belfry.linux;

import static dev.belfry.linux.Calls.callLong;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/**
 * A submission and a completion ring ({@code io_uring(7)}), in memory shared with the kernel.
 * Requests are written to {@link #submissions}, {@link #enter} submits them and waits, and results
 * are read from {@link #completions}. For one thread at a time; {@link Use} says which threads.
 * Only opening allocates.
 */
public final class IoUring implements AutoCloseable {
  /** A timeout that never expires. */
  public static final long FOREVER = -1;

  private static final int IORING_SETUP_CQSIZE = 1 << 3;
  private static final int IORING_SETUP_CLAMP = 1 << 4;
  private static final int IORING_SETUP_SUBMIT_ALL = 1 << 7;
  private static final int IORING_SETUP_TASKRUN_FLAG = 1 << 9;
  private static final int IORING_SETUP_SINGLE_ISSUER = 1 << 12;
  private static final int IORING_SETUP_DEFER_TASKRUN = 1 << 13;
  static final int IORING_SETUP_NO_SQARRAY = 1 << 16;

  private static final int IORING_FEAT_SINGLE_MMAP = 1;
  private static final int IORING_FEAT_NODROP = 1 << 1;
  private static final int IORING_FEAT_SUBMIT_STABLE = 1 << 2;
  private static final int IORING_FEAT_EXT_ARG = 1 << 8;

  /**
   * Linux 5.11 has all of these. A ring must also continue after a failed request, which came with
   * 5.18. Later features are probed for separately.
   */
  private static final int REQUIRED =
      IORING_FEAT_SINGLE_MMAP
          | IORING_FEAT_NODROP
          | IORING_FEAT_SUBMIT_STABLE
          | IORING_FEAT_EXT_ARG;

  private static final int IORING_ENTER_GETEVENTS = 1;
  private static final int IORING_ENTER_EXT_ARG = 1 << 3;
  private static final int IORING_ENTER_REGISTERED_RING = 1 << 4;

  private static final int IORING_REGISTER_RING_FDS = 20;
  private static final int IORING_UNREGISTER_RING_FDS = 21;
  private static final int ANY_PLACE = -1;

  private static final long IORING_OFF_SQ_RING = 0;
  private static final long IORING_OFF_SQES = 0x1000_0000;
  private static final int PROT_READ = 1;
  private static final int PROT_WRITE = 2;
  private static final int MAP_SHARED = 1;
  private static final int MAP_POPULATE = 0x8000;

  /** Which threads use a ring, which decides what the kernel can optimise. */
  public enum Use {
    /** Any thread, one at a time. */
    ANY_THREAD(0),
    /** Only the thread that opens it: completions are processed only when it enters the kernel. */
    OPENING_THREAD(
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN | IORING_SETUP_TASKRUN_FLAG);

    private final int flags;

    Use(int flags) {
      this.flags = flags;
    }
  }

  private final Sys sys;
  private final Fd fd;
  private final Arena mappings = Arena.ofShared();
  private final SubmissionQueue submissions;
  private final CompletionQueue completions;
  private final boolean tellsOfWork;

  /** {@code struct io_uring_getevents_arg}; only the address of the timeout is used. */
  private final MemorySegment waitArgument;

  private final MemorySegment timeout;

  /** How calls refer to the ring: by descriptor, or by its index among the thread's rings. */
  private int name;

  private int nameFlag;

  private IoUring(Sys sys, Fd fd, MemorySegment params) throws ErrnoException {
    this.sys = sys;
    this.fd = fd;
    this.name = fd.number();
    Arena arena = Arena.ofAuto();
    this.timeout = Timespec.allocate(arena);
    this.waitArgument = arena.allocate(UringStructs.GETEVENTS_ARG);
    waitArgument.set(JAVA_LONG, UringStructs.ARG_TIMEOUT, timeout.address());
    int flags = params.get(JAVA_INT, UringStructs.FLAGS);
    this.tellsOfWork = (flags & IORING_SETUP_TASKRUN_FLAG) != 0;
    MemorySegment rings = map(UringStructs.ringBytes(params), IORING_OFF_SQ_RING);
    MemorySegment entries = map(UringStructs.entriesBytes(params), IORING_OFF_SQES);
    boolean indirect = (flags & IORING_SETUP_NO_SQARRAY) == 0;
    this.submissions = new SubmissionQueue(rings, entries, params, indirect);
    this.completions = new CompletionQueue(rings, params);
  }

  /**
   * Opens a ring with the best that the kernel offers for this use.
   *
   * @param requests how many requests can be written before they must be submitted
   * @param answers how many completions there is room for before the kernel keeps them elsewhere
   */
  public static IoUring open(Sys sys, Use use, int requests, int answers) throws ErrnoException {
    try {
      return open(sys, use.flags | IORING_SETUP_NO_SQARRAY, requests, answers);
    } catch (ErrnoException e) {
      if (e.errno() != Errno.EINVAL || !e.call().equals("io_uring_setup")) {
        throw e;
      }
    }
    return open(sys, use.flags, requests, answers); // Linux before 6.6
  }

  private static IoUring open(Sys sys, int flags, int requests, int answers) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment params = arena.allocate(UringStructs.PARAMS);
      int common = IORING_SETUP_CQSIZE | IORING_SETUP_CLAMP;
      params.set(JAVA_INT, UringStructs.FLAGS, flags | common | IORING_SETUP_SUBMIT_ALL);
      params.set(JAVA_INT, UringStructs.CQ_ENTRIES, answers);
      int number = sys.ioUringSetup(requests, params);
      if (number < 0) {
        String cause = Facilities.explanation("io_uring", -number);
        throw new ErrnoException("io_uring_setup", -number, cause);
      }
      Fd fd = Fd.own(sys, number, "io_uring");
      try {
        int features = params.get(JAVA_INT, UringStructs.FEATURES);
        if ((features & REQUIRED) != REQUIRED) {
          throw new ErrnoException("io_uring_setup", Errno.EOPNOTSUPP, "the kernel is too old");
        }
        return new IoUring(sys, fd, params);
      } catch (ErrnoException | RuntimeException e) {
        fd.close();
        throw e;
      }
    }
  }

  /** Why this machine has no suitable ring; empty if it has one. */
  public static Optional<String> unavailabilityCause(Sys sys) {
    try {
      open(sys, Use.ANY_THREAD, 2, 4).close();
      return Optional.empty();
    } catch (ErrnoException e) {
      return Optional.ofNullable(e.getMessage());
    }
  }

  private MemorySegment map(long length, long offset) throws ErrnoException {
    int flags = MAP_SHARED | MAP_POPULATE;
    try {
      long address =
          callLong(
              "mmap",
              "io_uring",
              () -> sys.mmap(0, length, PROT_READ | PROT_WRITE, flags, fd.number(), offset));
      return mapping(address, length);
    } catch (ErrnoException e) {
      mappings.close();
      throw e;
    }
  }

  @SuppressWarnings("restricted")
  private MemorySegment mapping(long address, long length) {
    return MemorySegment.ofAddress(address)
        .reinterpret(length, mappings, _ -> sys.munmap(address, length));
  }

  /** The queue that requests are written to. */
  public SubmissionQueue submissions() {
    return submissions;
  }

  /** The queue that completions are read from. */
  public CompletionQueue completions() {
    return completions;
  }

  /** The ring's descriptor. */
  public int number() {
    return fd.number();
  }

  /**
   * Lets {@link #enter} find the ring without its descriptor, on the calling thread, which must be
   * its only user from then on. Does nothing if the kernel does not support it.
   */
  public void registerForThisThread() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment update = update(arena, ANY_PLACE);
      if (sys.ioUringRegister(fd.number(), IORING_REGISTER_RING_FDS, update, 1) == 1) {
        name = update.get(JAVA_INT, UringStructs.UPDATE_OFFSET);
        nameFlag = IORING_ENTER_REGISTERED_RING;
      }
    }
  }

  private MemorySegment update(Arena arena, int place) {
    MemorySegment update = arena.allocate(UringStructs.RSRC_UPDATE);
    update.set(JAVA_INT, UringStructs.UPDATE_OFFSET, place);
    update.set(JAVA_LONG, UringStructs.UPDATE_DATA, fd.number());
    return update;
  }

  /**
   * Submits the written requests and waits for completions, at most until the timeout.
   *
   * @param atLeast how many completions to wait for; 0 does not wait
   * @param timeoutNanos how long to wait at most, or {@link #FOREVER}
   * @return how many requests were consumed, or {@code -errno}; in either case there may be
   *     completions
   */
  public int enter(int atLeast, long timeoutNanos) {
    MemorySegment argument = MemorySegment.NULL;
    long size = 0;
    int flags = IORING_ENTER_GETEVENTS | nameFlag;
    if (atLeast > 0 && timeoutNanos >= 0) {
      Timespec.set(timeout, timeoutNanos);
      argument = waitArgument;
      size = UringStructs.GETEVENTS_ARG.byteSize();
      flags |= IORING_ENTER_EXT_ARG;
    }
    return sys.ioUringEnter(name, submissions.publish(), atLeast, flags, argument, size);
  }

  /**
   * Whether {@link #enter} without waiting could achieve anything: there are requests to submit, or
   * the kernel has pending work for us or completions that found no room.
   */
  public boolean hasWork() {
    return !tellsOfWork || submissions.hasWork();
  }

  @Override
  public void close() {
    if (nameFlag != 0) {
      try (Arena arena = Arena.ofConfined()) {
        sys.ioUringRegister(fd.number(), IORING_UNREGISTER_RING_FDS, update(arena, name), 1);
      }
    }
    fd.close();
    mappings.close();
  }
}
