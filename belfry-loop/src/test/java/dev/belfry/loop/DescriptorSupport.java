package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import dev.belfry.testkit.UringTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Shared by the tests of descriptors. */
final class DescriptorSupport {
  private static final Pattern WATCHED =
      Pattern.compile("tfd:\\s*(\\d+) events:\\s*([0-9a-f]+) data:\\s*([0-9a-f]+).*");

  private DescriptorSupport() {}

  /** Records how an operation ended, and how often. */
  static final class Probe<T> implements Completion<T> {
    final Operation<T> operation;
    private final AtomicInteger count = new AtomicInteger();
    private volatile @Nullable Thread thread;

    Probe(Operation<T> operation) {
      this.operation = operation;
    }

    @Override
    public void completed(Operation<? extends T> completed) {
      thread = Thread.currentThread();
      count.incrementAndGet();
    }

    boolean done() {
      return count.get() > 0;
    }

    int count() {
      return count.get();
    }

    @Nullable Thread thread() {
      return thread;
    }

    Outcome outcome() {
      return operation.outcome();
    }

    T value() throws IOException {
      return operation.result();
    }

    /** The errno it failed with. */
    int errno() {
      assertThat(operation.error()).isInstanceOf(ErrnoException.class);
      return operation.error() instanceof ErrnoException e ? e.errno() : 0;
    }
  }

  /** The three ways to use an operation; this thread drives the loop. */
  enum Use {
    CALLBACK {
      @Override
      <T> T result(EventLoop loop, Operation<T> operation) throws IOException {
        Probe<T> probe = start(operation);
        drive(loop, probe::done);
        assertThat(probe.count()).isEqualTo(1);
        return probe.value();
      }
    },
    COROUTINE {
      @Override
      <T> T result(EventLoop loop, Operation<T> operation) throws IOException {
        var result = new CompletableFuture<T>();
        loop.spawn(
            "test",
            () -> {
              try {
                result.complete(operation.await());
              } catch (IOException | RuntimeException | Error e) {
                result.completeExceptionally(e);
              }
            });
        drive(loop, result::isDone);
        return joined(result);
      }
    },
    FUTURE {
      @Override
      <T> T result(EventLoop loop, Operation<T> operation) throws IOException {
        CompletableFuture<T> future = operation.toFuture();
        drive(loop, future::isDone);
        return joined(future);
      }
    };

    /** Runs an operation to its end. */
    abstract <T> T result(EventLoop loop, Operation<T> operation) throws IOException;

    private static <T> T joined(CompletableFuture<T> future) throws IOException {
      try {
        return future.join();
      } catch (CompletionException e) {
        if (e.getCause() instanceof IOException cause) {
          throw cause;
        }
        throw e;
      }
    }
  }

  /** Drives a loop on this thread until a condition holds; waits only when it is idle. */
  static void drive(EventLoop loop, BooleanSupplier until) throws IOException {
    long deadline = System.nanoTime() + LoopSupport.PATIENCE.toNanos();
    while (!until.getAsBoolean()) {
      assertThat(System.nanoTime() - deadline).as("nanoseconds late").isNegative();
      if (loop.runSome() == 0) {
        loop.runSome(Duration.ofMillis(5));
      }
    }
  }

  /** Two TCP sockets connected to each other. */
  static StreamSocket.Pair tcp(EventLoop loop) throws IOException {
    return tcp(loop, loop);
  }

  /** The same, with the second socket on another loop. */
  static StreamSocket.Pair tcp(EventLoop loop, EventLoop second) throws IOException {
    Acceptor acceptor =
        Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    try {
      var client = StreamSocket.open(loop, StandardProtocolFamily.INET);
      result(loop, client.connect(acceptor.localAddress()));
      return new StreamSocket.Pair(client, result(loop, acceptor.accept(second)));
    } finally {
      acceptor.close();
    }
  }

  /** Starts an operation and observes it. */
  static <T> Probe<T> start(Operation<T> operation) {
    var probe = new Probe<>(operation);
    operation.start(probe);
    return probe;
  }

  /** Starts an operation with a token and observes it. */
  static <T> Probe<T> start(Operation<T> operation, StopToken token) {
    var probe = new Probe<>(operation);
    operation.start(probe, token);
    return probe;
  }

  /** Runs an operation to its end on a loop that this thread drives. */
  static <T> T result(EventLoop loop, Operation<T> operation) throws IOException {
    return Use.CALLBACK.result(loop, operation);
  }

  /** Runs an operation that fails, and returns its errno. */
  static int errno(EventLoop loop, Operation<?> operation) throws IOException {
    var probe = start(operation);
    drive(loop, probe::done);
    return probe.errno();
  }

  /** An action that may fail. */
  interface Body {
    void run() throws IOException;
  }

  /** Runs an action on the loop, which this thread drives; rethrows its exception here. */
  static void onLoop(EventLoop loop, Body body) throws IOException {
    var failure = new AtomicReference<@Nullable Throwable>();
    var done = new boolean[1];
    loop.scheduler()
        .execute(
            () -> {
              try {
                body.run();
              } catch (IOException | RuntimeException | Error e) {
                failure.set(e);
              } finally {
                done[0] = true;
              }
            });
    drive(loop, () -> done[0]);
    switch (failure.get()) {
      case null -> {}
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      case Throwable e -> throw new AssertionError(e);
    }
  }

  /** A text in native memory. */
  static MemorySegment bytes(Arena arena, String text) {
    return arena
        .allocateFrom(text, StandardCharsets.ISO_8859_1)
        .asSlice(0, text.length()); // without the terminating zero
  }

  /** The text at the beginning of a segment. */
  static String text(MemorySegment memory, int length) {
    return new String(
        memory.asSlice(0, length).toArray(ValueLayout.JAVA_BYTE), StandardCharsets.ISO_8859_1);
  }

  /** Reads once and returns the text. */
  static String read(EventLoop loop, ByteHandle handle) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      MemorySegment buffer = arena.allocate(4096);
      int count = result(loop, handle.readSome(buffer));
      return count < 0 ? "<end>" : text(buffer, count);
    }
  }

  /** Writes a whole text. */
  static void write(EventLoop loop, ByteHandle handle, String text) throws IOException {
    try (Arena arena = Arena.ofShared()) {
      assertThat(result(loop, handle.writeAll(bytes(arena, text)))).isEqualTo(text.length());
    }
  }

  /** Writes with a plain system call, from outside the loop. */
  static void send(Handle handle, String text) {
    try (Arena arena = Arena.ofConfined()) {
      long sent = Sys.forAnyThread().write(handle.descriptor(), bytes(arena, text), text.length());
      assertThat(sent).isEqualTo(text.length());
    }
  }

  /**
   * A registration with an epoll descriptor.
   *
   * @param events the mask
   * @param data the token
   */
  record Watched(int events, long data) {}

  /** A loop whose system calls go through a tap, and whose epoll descriptor is known. */
  static class Tapped implements AutoCloseable {
    final UringTap requests = UringTap.over(Sys.forAnyThread());
    final SysTap tap = SysTap.over(requests.sys());
    final EventLoop loop;
    private volatile int epoll = -1;

    Tapped(LoopOptions options) throws IOException {
      tap.script(
          "epollCtl",
          (_, arguments) -> {
            epoll = (int) arguments[0];
            return OptionalLong.empty();
          });
      prepare();
      loop = EventLoop.open(options.withSystemCalls(tap.sys()));
      tap.pass("epollCtl");
    }

    Tapped(Backend backend) throws IOException {
      this(LoopOptions.DEFAULT.withBackend(backend));
    }

    /** Configures the tap before the loop is opened. */
    void prepare() {}

    int epoll() {
      return epoll;
    }

    boolean isEpoll() {
      return loop.backend() != Backend.IO_URING;
    }

    /** How often an operation's call was made, or the request in its place. */
    long calls(String name) {
      return isEpoll() ? tap.calls(name) : requests.requests(name);
    }

    /** Makes an operation's calls fail from now on, or the requests in their place. */
    void fail(String name, int errno) {
      failFirst(name, Integer.MAX_VALUE, errno);
    }

    /** Makes them fail this many times, then succeed. */
    void failFirst(String name, int times, int errno) {
      if (isEpoll()) {
        tap.failFirst(name, times, errno);
      } else {
        requests.failFirst(name, times, errno);
      }
    }

    /** Makes them succeed again. */
    void pass(String name) {
      tap.pass(name);
      requests.pass(name);
    }

    /** The loop's registrations, by descriptor. */
    Map<Integer, Watched> watched() throws IOException {
      var watched = new TreeMap<Integer, Watched>();
      for (String line : Files.readAllLines(Path.of("/proc/self/fdinfo/" + epoll))) {
        Matcher matcher = WATCHED.matcher(line);
        if (matcher.matches()) {
          watched.put(
              Integer.parseInt(matcher.group(1)),
              new Watched(
                  Integer.parseUnsignedInt(matcher.group(2), 16),
                  Long.parseUnsignedLong(matcher.group(3), 16)));
        }
      }
      return watched;
    }

    /** The registration of a descriptor, which must exist. */
    Watched watched(int descriptor) throws IOException {
      Watched watched = watched().get(descriptor);
      if (watched == null) {
        throw new AssertionError(descriptor + " is not registered");
      }
      return watched;
    }

    /** The name of the waiting call. */
    String waitCall() {
      return WaitLog.call(loop.backend());
    }

    @Override
    public void close() {
      loop.close();
    }
  }
}
