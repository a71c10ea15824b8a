package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * How a host is made; each method gives a copy with one thing changed.
 *
 * @param systemCalls the system calls
 * @param path the segment's file, where guests can walk in; null for memory that only guests
 *     started by the host get
 * @param placement how the segment is laid out
 * @param config its sizes
 * @param budget how many messages of a guest are handed out before it is another's turn
 * @param walkIns how to deal with guests that walk in
 */
public record HostOptions(
    Sys systemCalls,
    @Nullable Path path,
    Placement placement,
    SegmentConfig config,
    int budget,
    PeerOptions walkIns) {

  /** Memory without a name, in the padded placement. */
  public static final HostOptions DEFAULT =
      new HostOptions(
          Sys.forAnyThread(),
          null,
          Placement.PADDED,
          SegmentConfig.DEFAULT,
          64,
          PeerOptions.DEFAULT.withName("walk-in"));

  /** Checks the values. */
  public HostOptions {
    if (budget < 1) {
      throw new IllegalArgumentException("a budget is at least 1, not " + budget);
    }
  }

  /** The same with other system calls. */
  public HostOptions withSystemCalls(Sys calls) {
    return new HostOptions(calls, path, placement, config, budget, walkIns);
  }

  /** The same with a file. */
  public HostOptions withPath(Path file) {
    return new HostOptions(systemCalls, file, placement, config, budget, walkIns);
  }

  /** The same in a placement. */
  public HostOptions withPlacement(Placement laidOut) {
    return new HostOptions(systemCalls, path, laidOut, config, budget, walkIns);
  }

  /** The same with sizes. */
  public HostOptions withConfig(SegmentConfig sizes) {
    return new HostOptions(systemCalls, path, placement, sizes, budget, walkIns);
  }

  /** The same with a budget. */
  public HostOptions withBudget(int messages) {
    return new HostOptions(systemCalls, path, placement, config, messages, walkIns);
  }

  /** The same with other options for guests that walk in. */
  public HostOptions withWalkIns(PeerOptions options) {
    return new HostOptions(systemCalls, path, placement, config, budget, options);
  }
}
