package dev.belfry.cli.shm;

import dev.belfry.cli.Reason;
import dev.belfry.cli.Version;
import dev.belfry.linux.Sys;
import dev.belfry.shm.Segment;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SegmentSnapshot;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.json.JsonMapper;

/**
 * {@code belfry shm}: inspects segments of shared memory, of live and dead hosts, and tests hosts
 * and guests of any implementation.
 */
@Command(
    name = "shm",
    description = "Inspects segments of shared memory, and tests their hosts and guests.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    synopsisSubcommandLabel = "COMMAND")
public final class Shm implements Runnable {
  private static final int FAILED = 1;
  private static final String WHICH = "PATH|PID|NAME";
  private static final String MEANT =
      "The segment's file, or a running host; optional if only one is running.";

  private final Supplier<Sys> sys;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  private Shm(Supplier<Sys> sys) {
    this.sys = sys;
  }

  /** Creates the command with its subcommands. */
  public static CommandLine commandLine(Supplier<Sys> sys) {
    return new CommandLine(new Shm(sys))
        .addSubcommand(new ShmPing(sys))
        .addSubcommand(new ShmEcho(sys))
        .setCaseInsensitiveEnumValuesAllowed(true);
  }

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "Say what to do: stat, dump, ping or echo.");
  }

  @Command(
      name = "stat",
      description = "Shows the guests of a segment, their rings and slots, read-only.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {"0:it was shown", "1:there is no such segment, or it is broken"})
  int stat(
      @Parameters(arity = "0..1", paramLabel = WHICH, description = MEANT) @Nullable String which,
      @Option(names = "--json", description = "Print one JSON object, for other programs.")
          boolean json) {
    return show(which, json ? Shm::printJson : Shm::printStat);
  }

  @Command(
      name = "dump",
      description = "Shows everything in a segment, read-only.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      exitCodeListHeading = "%nExit codes:%n",
      exitCodeList = {"0:it was shown", "1:there is no such segment, or it is broken"})
  int dump(
      @Parameters(arity = "0..1", paramLabel = WHICH, description = MEANT) @Nullable String which,
      @Option(names = "--json", description = "Print one JSON object, for other programs.")
          boolean json) {
    return show(which, json ? Shm::printJson : Shm::printDump);
  }

  private int show(@Nullable String which, BiConsumer<SegmentSnapshot, PrintWriter> printing) {
    try (Segment segment = Segment.inspect(sys.get(), HostSegment.find(which))) {
      printing.accept(SegmentSnapshot.of(segment), spec.commandLine().getOut());
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("belfry shm: " + Reason.of(e));
      return FAILED;
    }
  }

  private static void printJson(SegmentSnapshot snapshot, PrintWriter out) {
    out.println(JsonMapper.shared().writerWithDefaultPrettyPrinter().writeValueAsString(snapshot));
  }

  private static void printStat(SegmentSnapshot snapshot, PrintWriter out) {
    SegmentConfig config = snapshot.config();
    out.printf(
        "%s  %s, %,d bytes%s%n",
        snapshot.segment(),
        snapshot.placement(),
        snapshot.bytes(),
        snapshot.hostGoodbye() ? ", its host has left" : "");
    out.printf("host  %d of %d slots free%n", snapshot.hostFreeSlots(), config.slotsPerGuest());
    out.printf(
        "%4s  %-8s  %6s  %9s  %9s  %5s%n",
        "peer", "state", "epoch", "to host", "to guest", "slots");
    for (SegmentSnapshot.Peer peer : snapshot.peers()) {
      out.printf(
          "%4d  %-8s  %6d  %9d  %9d  %5d%n",
          peer.id(),
          peer.state(),
          peer.epoch(),
          peer.toHost().depth(),
          peer.toGuest().depth(),
          peer.freeSlots());
    }
  }

  private static void printDump(SegmentSnapshot snapshot, PrintWriter out) {
    SegmentConfig config = snapshot.config();
    out.println("segment             " + snapshot.segment());
    out.println("placement           " + snapshot.placement());
    out.println("version             " + snapshot.placement().version());
    out.println("total_size          " + snapshot.bytes());
    out.println("max_payload_size    " + config.maxPayloadSize());
    out.println("initial_credit      " + config.initialCredit());
    out.println("max_guests          " + config.maxGuests());
    out.println("ring_size           " + config.ringSize());
    out.println("slot_size           " + config.slotSize());
    out.println("slots_per_guest     " + config.slotsPerGuest());
    out.println("max_channels        " + config.maxChannels());
    out.println("heartbeat_interval  " + config.heartbeatIntervalNanos());
    out.println("host_goodbye        " + (snapshot.hostGoodbye() ? 1 : 0));
    out.println("host free slots     " + snapshot.hostFreeSlots());
    for (SegmentSnapshot.Peer peer : snapshot.peers()) {
      out.println();
      out.printf("peer %d: %s, epoch %d%n", peer.id(), peer.state(), peer.epoch());
      print(out, "guest->host", peer.toHost());
      print(out, "host->guest", peer.toGuest());
      out.println("  free slots   " + peer.freeSlots());
      out.println("  heartbeat    " + peer.heartbeatNanos());
      for (SegmentSnapshot.ChannelEntry channel : peer.channels()) {
        out.printf(
            "  channel %-4d %s, granted %d%n",
            channel.id(), channel.state(), channel.grantedTotal());
      }
    }
  }

  private static void print(PrintWriter out, String name, SegmentSnapshot.Counters ring) {
    out.printf("  %s  head %d, tail %d, depth %d%n", name, ring.head(), ring.tail(), ring.depth());
  }
}
