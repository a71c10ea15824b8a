package dev.belfry.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.linux.AllMemory;
import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts the io_uring requests of the code under test: counts those that reach the kernel, and
 * lets a test answer them in its place. Requests are named after the system calls they stand for,
 * by the methods of {@link Sys}. A request to be answered is replaced by a no-op with the wanted
 * result, so everything else works as usual. Thread-safe.
 */
public final class UringTap {
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(1, "readv"),
          Map.entry(2, "writev"),
          Map.entry(6, "poll"),
          Map.entry(9, "sendmsg"),
          Map.entry(10, "recvmsg"),
          Map.entry(13, "accept4"),
          Map.entry(14, "cancel"),
          Map.entry(16, "connect"),
          Map.entry(22, "read"),
          Map.entry(23, "write"),
          Map.entry(26, "send"),
          Map.entry(27, "recv"),
          Map.entry(28, "openat2"),
          Map.entry(51, "futex"));

  // Offsets in struct io_uring_params and in the structures it describes; see io_uring_setup(2).
  private static final long SQ_OFFSETS = 40;
  private static final long HEAD = SQ_OFFSETS;
  private static final long TAIL = SQ_OFFSETS + 4;
  private static final long MASK = SQ_OFFSETS + 8;
  private static final long REQUEST_BYTES = 64;
  private static final long REQUESTS_OFFSET = 0x1000_0000;
  private static final int NOP_INJECT_RESULT = 1;

  private final Sys real;
  private final Sys tapped;
  private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();
  private final Map<String, Answer> answers = new ConcurrentHashMap<>();
  private final CopyOnWriteArrayList<Ring> rings = new CopyOnWriteArrayList<>();

  /** A test's answer to a request. */
  public interface Answer {
    /**
     * Inspects a request.
     *
     * @param nth the ordinal of the request since the answer was set, from 1
     * @return its result, such as {@code -errno}, or null to leave it to the kernel
     */
    @Nullable Integer to(long nth);
  }

  private UringTap(Sys real) {
    this.real = real;
    this.tapped =
        (Sys)
            Proxy.newProxyInstance(
                Sys.class.getClassLoader(),
                new Class<?>[] {Sys.class},
                (_, method, arguments) -> invoke(method, arguments));
  }

  /** Taps the rings that are created through these calls. */
  public static UringTap over(Sys real) {
    return new UringTap(real);
  }

  /** The tapped calls, for the code under test. */
  public Sys sys() {
    return tapped;
  }

  /** How many requests of this name there were. */
  public long requests(String name) {
    return counts.computeIfAbsent(name, _ -> new AtomicLong()).get();
  }

  /** Answers each request of this name from now on. */
  public void answer(String name, Answer answer) {
    var nth = new AtomicLong();
    answers.put(name, _ -> answer.to(nth.incrementAndGet()));
  }

  /** Makes requests of this name fail from now on. */
  public void fail(String name, int errno) {
    answer(name, _ -> -errno);
  }

  /** Makes requests of this name fail this many times, then work. */
  public void failFirst(String name, int times, int errno) {
    answer(name, nth -> nth <= times ? -errno : null);
  }

  /** Makes requests of this name work again. */
  public void pass(String name) {
    answers.remove(name);
  }

  private @Nullable Object invoke(Method method, Object[] arguments) throws Throwable {
    if (method.getName().equals("ioUringEnter")) {
      rings.forEach(this::look);
    }
    Object result;
    try {
      result = method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
    switch (method.getName()) {
      case "ioUringSetup" -> {
        if ((int) result >= 0) {
          rings.add(new Ring((int) result, (MemorySegment) arguments[1]));
        }
      }
      case "mmap" -> rings.forEach(ring -> ring.mapped(arguments, (long) result));
      case "munmap" -> rings.removeIf(ring -> ring.has((long) arguments[0]));
      default -> {}
    }
    return result;
  }

  private void look(Ring ring) {
    synchronized (ring) {
      for (int index = ring.firstUnseen(); index != ring.tail(); index++) {
        long request = ring.request(index);
        int operation = AllMemory.SEGMENT.get(JAVA_BYTE, request);
        String name = NAMES.getOrDefault(operation, "operation " + operation);
        counts.computeIfAbsent(name, _ -> new AtomicLong()).incrementAndGet();
        Answer answer = answers.get(name);
        Integer result = answer != null ? answer.to(0) : null;
        if (result != null) {
          replace(request, result);
        }
        ring.seen = index + 1;
      }
    }
  }

  private static void replace(long request, int result) {
    MemorySegment memory = AllMemory.SEGMENT;
    long token = memory.get(JAVA_LONG, request + 32);
    memory.asSlice(request, REQUEST_BYTES).fill((byte) 0); // all zero: IORING_OP_NOP
    memory.set(JAVA_INT, request + 24, result);
    memory.set(JAVA_INT, request + 28, NOP_INJECT_RESULT);
    memory.set(JAVA_LONG, request + 32, token);
  }

  /** A ring, identified by its descriptor during set-up and by its addresses afterwards. */
  private static final class Ring {
    private final int fd;
    private final int head;
    private final int tail;
    private final int mask;
    private long indexes;
    private long requests;

    /** The index up to which requests have been inspected. */
    private int seen;

    Ring(int fd, MemorySegment params) {
      this.fd = fd;
      this.head = params.get(JAVA_INT, HEAD);
      this.tail = params.get(JAVA_INT, TAIL);
      this.mask = params.get(JAVA_INT, MASK);
    }

    void mapped(Object[] arguments, long address) {
      if ((int) arguments[4] == fd && requests == 0 && address > 0) {
        if ((long) arguments[5] == REQUESTS_OFFSET) {
          requests = address;
        } else {
          indexes = address;
        }
      }
    }

    boolean has(long address) {
      return address == indexes || address == requests;
    }

    int firstUnseen() {
      if (requests == 0) {
        return tail();
      }
      int taken = AllMemory.SEGMENT.get(JAVA_INT, indexes + head);
      return seen - taken > 0 ? seen : taken;
    }

    int tail() {
      return requests == 0 ? 0 : AllMemory.SEGMENT.get(JAVA_INT, indexes + tail);
    }

    long request(int index) {
      return requests + (index & AllMemory.SEGMENT.get(JAVA_INT, indexes + mask)) * REQUEST_BYTES;
    }
  }
}
