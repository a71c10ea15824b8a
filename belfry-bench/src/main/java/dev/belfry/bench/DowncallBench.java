package dev.belfry.bench;

import dev.belfry.linux.Epoll;
import dev.belfry.linux.EpollEvents;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.EventFd;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Io;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.CommandLineOptionException;
import org.openjdk.jmh.runner.options.CommandLineOptions;
import org.openjdk.jmh.runner.options.OptionsBuilder;

/**
 * The cost of a system call through the foreign-function API, for each shape of call. Figures
 * include the system call itself; {@link #getppid} is about the cheapest there is.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
@Fork(value = 1, jvmArgsAppend = "--enable-native-access=ALL-UNNAMED")
@SuppressWarnings("NullAway.Init") // open() sets the fields before anything is measured
public class DowncallBench {
  private static final int BYTES = 64;
  private static final int MSG_PEEK = 2;

  /** The set of calls. */
  @Param public Calls calls;

  private Sys sys;
  private Arena arena;
  private MemorySegment buffer;
  private MemorySegment word;
  private EventFd event;
  private EventFd idle;
  private Epoll epoll;
  private EpollEvents batch;
  private Fd zero;
  private Fd nothing;
  private Sockets.Pair pair;
  private Sockets.Pair full;
  private Fd deaf;
  private Fd sender;

  /** Opens the resources that the calls use. */
  @Setup
  public void open() throws ErrnoException {
    sys = calls.sys();
    arena = Arena.ofShared();
    buffer = arena.allocate(BYTES, Long.BYTES);
    word = arena.allocate(Integer.BYTES, Integer.BYTES);
    event = EventFd.create(sys);
    idle = EventFd.create(sys);
    epoll = Epoll.create(sys);
    epoll.add(idle.number(), Epoll.IN | Epoll.ET, 1);
    batch = new EpollEvents(arena, 64);
    zero = OpenFile.open(sys, Path.of("/dev/zero"), OpenFlags.READ_ONLY, 0);
    nothing = OpenFile.open(sys, Path.of("/dev/null"), OpenFlags.WRITE_ONLY, 0);
    pair = Sockets.pair(sys, Sockets.Type.STREAM, false);
    full = Sockets.pair(sys, Sockets.Type.STREAM, false);
    Sockets.send(sys, full.first().number(), buffer);
    deaf = Sockets.open(sys, StandardProtocolFamily.INET, Sockets.Type.DATAGRAM, false);
    Sockets.bind(sys, deaf.number(), new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
    sender = Sockets.open(sys, StandardProtocolFamily.INET, Sockets.Type.DATAGRAM, false);
    SocketAddress to = Sockets.localAddress(sys, deaf.number());
    Sockets.connect(sys, sender.number(), Sockets.encode(arena, to));
  }

  /** Closes them. */
  @TearDown
  public void close() {
    sender.close();
    deaf.close();
    full.first().close();
    full.second().close();
    pair.first().close();
    pair.second().close();
    nothing.close();
    zero.close();
    epoll.close();
    idle.close();
    event.close();
    arena.close();
  }

  /** No argument, no memory. */
  @Benchmark
  public int getppid() {
    return sys.getppid();
  }

  /** An error, for which errno is read. */
  @Benchmark
  public int closeFails() {
    return sys.close(-1);
  }

  /** Reads 64 bytes of zeros. */
  @Benchmark
  public long read() {
    return Io.read(sys, zero.number(), buffer);
  }

  /** Writes 64 bytes to nowhere. */
  @Benchmark
  public long write() {
    return Io.write(sys, nothing.number(), buffer);
  }

  /** Nothing to read: EAGAIN. */
  @Benchmark
  public long readNothing() {
    return idle.reset();
  }

  /** Two calls: a write and a read of a counter. */
  @Benchmark
  public long eventfdSignalAndReset() {
    return event.signal() + event.reset();
  }

  /** By number, six arguments, no event. */
  @Benchmark
  public int epollPwait2() {
    return epoll.await(batch, 0);
  }

  /** Modifies a registration. */
  @Benchmark
  public int epollModify() {
    return epoll.modify(idle.number(), Epoll.IN | Epoll.ET, 1);
  }

  /** Two calls: 64 bytes through a pair of Unix sockets. */
  @Benchmark
  public long sendAndReceive() {
    return Sockets.send(sys, pair.first().number(), buffer)
        + Sockets.receive(sys, pair.second().number(), buffer);
  }

  /** A datagram of 64 bytes to a socket that is never read: dropped once it is full. */
  @Benchmark
  public long send() {
    return Sockets.send(sys, sender.number(), buffer);
  }

  /** 64 bytes, only peeked at, so that each call finds them. */
  @Benchmark
  public long receive() {
    return sys.recv(full.second().number(), buffer, BYTES, MSG_PEEK);
  }

  /** Nothing to receive: EAGAIN. */
  @Benchmark
  public long receiveNothing() {
    return Sockets.receive(sys, pair.first().number(), buffer);
  }

  /** By number, no waiters. */
  @Benchmark
  public int futexWake() {
    return Futex.wake(sys, word, 1);
  }

  /** Runs this benchmark with the options of JMH, measuring allocation too. */
  public static void main(String[] args) throws RunnerException, CommandLineOptionException {
    new Runner(
            new OptionsBuilder()
                .parent(new CommandLineOptions(args))
                .include("\\b" + DowncallBench.class.getSimpleName() + "\\b")
                .addProfiler(GCProfiler.class)
                .build())
        .run();
  }
}
