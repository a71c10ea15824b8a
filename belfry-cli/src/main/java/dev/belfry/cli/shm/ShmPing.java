package dev.belfry.cli.shm;

import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.shm.HostOptions;
import dev.belfry.shm.Peer;
import dev.belfry.shm.PeerListener;
import dev.belfry.shm.PeerOptions;
import dev.belfry.shm.Placement;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.ShmHost;
import dev.belfry.shm.WaitStrategy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code belfry shm ping}: a host that tests a guest of any implementation. */
@Command(
    name = "ping",
    description = {
      "Starts a guest, sends it messages of all kinds and checks every echo.",
      "COMMAND gets a ticket appended to its arguments. Without a COMMAND, it waits for a guest to walk in."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"0:every echo was correct", "1:one was not, or there was no guest"})
final class ShmPing implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final long ATTACH_SECONDS = 60;

  private final Supplier<Sys> sys;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Option(
      names = "--hub-path",
      paramLabel = "PATH",
      description = "The segment's file; without it the guest inherits anonymous memory.")
  private @Nullable Path hubPath;

  @Option(
      names = "--placement",
      paramLabel = "PLACEMENT",
      description = "${COMPLETION-CANDIDATES}; padded by default.")
  private Placement placement = Placement.PADDED;

  @Option(names = "--ring-size", paramLabel = "N", description = "Descriptors per ring.")
  private int ringSize = SegmentConfig.DEFAULT.ringSize();

  @Option(names = "--slot-size", paramLabel = "N", description = "Bytes per slot.")
  private int slotSize = SegmentConfig.DEFAULT.slotSize();

  @Option(names = "--slots", paramLabel = "N", description = "Slots per pool.")
  private int slots = SegmentConfig.DEFAULT.slotsPerGuest();

  @Option(names = "--max-guests", paramLabel = "N", description = "Entries for guests.")
  private int maxGuests = SegmentConfig.DEFAULT.maxGuests();

  @Option(names = "--max-channels", paramLabel = "N", description = "Channels per guest.")
  private int maxChannels = SegmentConfig.DEFAULT.maxChannels();

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "How many messages to send; 1000 by default.")
  private int count = 1000;

  @Option(
      names = "--sizes",
      split = ",",
      paramLabel = "BYTES",
      description = "Message sizes, used in turn; by default around the limits.")
  private List<Integer> sizes = List.of();

  @Option(
      names = "--wait",
      paramLabel = "STRATEGY",
      description = "What to do while waiting: ${COMPLETION-CANDIDATES}.")
  private WaitStrategy strategy = WaitStrategy.ADAPTIVE;

  @Option(names = "--json", description = "Print one JSON object, for other programs.")
  private boolean json;

  @Parameters(paramLabel = "COMMAND", description = "The guest, after --.")
  private List<String> command = List.of();

  ShmPing(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() {
    HostOptions options = options();
    if (count < 1) {
      throw new ParameterException(spec.commandLine(), "--count is at least 1, not " + count + ".");
    }
    if (sizes.stream().anyMatch(size -> size < 0)) {
      throw new ParameterException(spec.commandLine(), "--sizes has one below 0: " + sizes + ".");
    }
    if (command.isEmpty() && hubPath == null) {
      throw new ParameterException(
          spec.commandLine(), "Say which COMMAND to start, or a --hub-path where to walk in.");
    }
    try (EventLoop loop = EventLoop.open()) {
      Thread.ofPlatform().name("belfry-loop").start(() -> run(loop));
      return ping(ShmHost.create(loop, options));
    } catch (IOException e) {
      return fail(Reason.of(e));
    }
  }

  private static void run(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for the guest, and keeps its exit status. */
  private static final class Arrival implements PeerListener {
    private final CompletableFuture<Peer> attached = new CompletableFuture<>();
    private volatile @Nullable ExitStatus status;

    @Override
    public void onAttached(Peer peer) {
      attached.complete(peer);
    }

    @Override
    public void onGone(Peer peer, @Nullable ExitStatus how) {
      status = how;
      attached.completeExceptionally(
          new IOException("the guest ended before it had attached: " + how));
    }
  }

  private final Arrival arrival = new Arrival();

  private HostOptions options() {
    try {
      SegmentConfig config =
          SegmentConfig.DEFAULT
              .withRingSize(ringSize)
              .withSlots(slots, slotSize)
              .withMaxGuests(maxGuests)
              .withChannels(maxChannels, SegmentConfig.DEFAULT.initialCredit());
      HostOptions options =
          HostOptions.DEFAULT
              .withSystemCalls(sys.get())
              .withPlacement(placement)
              .withConfig(config)
              .withWalkIns(peerOptions());
      return hubPath == null ? options : options.withPath(hubPath);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), e.getMessage());
    }
  }

  private PeerOptions peerOptions() {
    return PeerOptions.DEFAULT.withListener(arrival).withStrategy(strategy);
  }

  private int ping(ShmHost host) throws IOException {
    EchoCheck echoes;
    try (host) {
      if (command.isEmpty()) {
        spec.commandLine().getErr().println("waiting for a guest at " + hubPath);
      } else {
        host.spawn(command, host.addPeer(peerOptions()));
      }
      Peer peer = arrival.attached.get(ATTACH_SECONDS, TimeUnit.SECONDS);
      echoes = new EchoCheck(host.segment(), peer, sizes);
      String trouble = echoes.exchange(count);
      if (trouble == null) {
        trouble = echoes.slotsInUse();
      }
      if (trouble != null) {
        return fail(trouble);
      }
    } catch (TimeoutException e) {
      return fail("no guest has come within %d s".formatted(ATTACH_SECONDS));
    } catch (ExecutionException e) {
      return fail(e.getCause() == null ? e.getMessage() : e.getCause().getMessage());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return fail("interrupted");
    }
    // The host has said goodbye and waited for the guest, so its exit status is known.
    spec.commandLine().getOut().print(echoes.report(json, arrival.status));
    spec.commandLine().getOut().flush();
    return 0;
  }

  private int fail(@Nullable String what) {
    spec.commandLine().getErr().println("belfry shm ping: " + what);
    return FAILED;
  }
}
