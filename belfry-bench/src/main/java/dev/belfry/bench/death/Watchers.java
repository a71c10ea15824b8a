package dev.belfry.bench.death;

import dev.belfry.bench.harness.ContenderProcess;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Fd;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.shm.HostOptions;
import dev.belfry.shm.Peer;
import dev.belfry.shm.PeerListener;
import dev.belfry.shm.PeerOptions;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.Witness;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** Ways to watch a worker: each starts one, kills it, and measures how long the news took. */
final class Watchers implements AutoCloseable {
  static final String BELFRY = "belfry";
  static final String PIDFD = "pidfd-c";
  static final String SOCKET = "socket-c";
  static final String ON_EXIT = "ProcessHandle.onExit";
  static final List<String> NAMES = List.of(BELFRY, PIDFD, SOCKET, ON_EXIT);

  static final String NOTICE = "noticeNanos";
  static final String GONE = "goneNanos";

  private static final Duration LIMIT = Duration.ofSeconds(60);

  /** The pause between READY and the kill, after which worker and watcher are asleep. */
  private static final long SETTLE_MILLIS = 20;

  private static final Path NOWHERE = Path.of("/dev/null");

  private final Path cWorker;
  private final Path cWatch;
  private final EventLoop loop;
  private final ShmHost host;
  private final Fd nowhere;

  private Watchers(Path cWorker, Path cWatch, EventLoop loop, ShmHost host, Fd nowhere) {
    this.cWorker = cWorker;
    this.cWatch = cWatch;
    this.loop = loop;
    this.host = host;
    this.nowhere = nowhere;
  }

  static Watchers open(Path cWorker, Path cWatch) throws IOException {
    EventLoop loop = EventLoop.open();
    Thread.ofPlatform().name("belfry-loop").start(() -> run(loop));
    SegmentConfig config = SegmentConfig.DEFAULT.withMaxGuests(4).withSlots(4, 1024);
    ShmHost host = ShmHost.create(loop, HostOptions.DEFAULT.withConfig(config));
    Fd nowhere = OpenFile.open(Sys.forAnyThread(), NOWHERE, OpenFlags.WRITE_ONLY, 0);
    return new Watchers(cWorker, cWatch, loop, host, nowhere);
  }

  private static void run(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Starts a victim, watched in the named way, and kills it. */
  Map<String, Double> kill(String name, Victim victim) throws IOException {
    List<String> command = victim.command(cWorker);
    try {
      return switch (name) {
        case BELFRY -> killGuest(command);
        case ON_EXIT -> killProcess(command);
        default -> killWatched(name.equals(PIDFD) ? "pidfd" : "socket", command);
      };
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } catch (ExecutionException | TimeoutException e) {
      throw new IOException(name + " did not notice the death of " + victim, e);
    }
  }

  private static long kill(long pid) throws IOException, InterruptedException {
    Thread.sleep(SETTLE_MILLIS);
    long before = System.nanoTime();
    Processes.kill(Sys.forAnyThread(), Math.toIntExact(pid), Signo.KILL);
    return before;
  }

  /** When the two notices arrived. */
  private static final class Notices implements PeerListener {
    private final CompletableFuture<Peer> attached = new CompletableFuture<>();
    private final CompletableFuture<Long> dying = new CompletableFuture<>();
    private final CompletableFuture<Long> gone = new CompletableFuture<>();

    @Override
    public void onAttached(Peer peer) {
      attached.complete(peer);
    }

    @Override
    public void onDying(Peer peer, Witness witness) {
      dying.complete(System.nanoTime());
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus status) {
      gone.complete(System.nanoTime());
      attached.completeExceptionally(new IOException("the worker did not attach: " + status));
    }
  }

  private Map<String, Double> killGuest(List<String> command)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    var notices = new Notices();
    host.spawn(
        command,
        host.addPeer(PeerOptions.DEFAULT.withListener(notices)),
        spawn -> spawn.standard(1, nowhere.number())); // keeps its READY off our standard output
    Peer peer = notices.attached.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
    long before = kill(peer.pid().orElseThrow());
    var metrics = new LinkedHashMap<String, Double>();
    metrics.put(NOTICE, since(before, notices.dying.get(LIMIT.toSeconds(), TimeUnit.SECONDS)));
    metrics.put(GONE, since(before, notices.gone.get(LIMIT.toSeconds(), TimeUnit.SECONDS)));
    return metrics;
  }

  private static double since(long before, long then) {
    return then - before;
  }

  private Map<String, Double> killWatched(String by, List<String> command)
      throws IOException, InterruptedException {
    var watched = new ArrayList<>(List.of(cWatch.toString(), by));
    watched.addAll(command);
    try (var watcher = ContenderProcess.start(by, watched, Pinning.NONE)) {
      long before = kill(Long.parseLong(watcher.awaitReady()));
      return Map.of(NOTICE, since(before, Long.parseLong(watcher.readLine(LIMIT))));
    }
  }

  private static Map<String, Double> killProcess(List<String> command)
      throws IOException, InterruptedException, ExecutionException, TimeoutException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    try (BufferedReader output = process.inputReader()) {
      CompletableFuture<Long> exit = process.toHandle().onExit().thenApply(_ -> System.nanoTime());
      String ready = output.readLine();
      if (ready == null || !ready.startsWith("READY")) {
        throw new IOException("the worker says " + ready);
      }
      long before = kill(process.pid());
      return Map.of(NOTICE, since(before, exit.get(LIMIT.toSeconds(), TimeUnit.SECONDS)));
    } finally {
      process.destroyForcibly();
    }
  }

  @Override
  public void close() throws IOException {
    host.close();
    loop.close();
    nowhere.close();
  }
}
