package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The options of a host. Immutable: each {@code with} method returns a copy with one value changed.
 *
 * @param systemCalls the system calls
 * @param path the segment's file, through which guests can walk in; null for anonymous memory,
 *     which only guests spawned by the host can reach
 * @param placement the layout of the segment
 * @param config the sizes of the segment
 * @param budget how many messages of one guest are handed out before the next guest's turn
 * @param walkIns the options for guests that walk in
 */
public record HostOptions(
    Sys systemCalls,
    @Nullable Path path,
    Placement placement,
    SegmentConfig config,
    int budget,
    PeerOptions walkIns) {

  /** Anonymous memory in the padded placement. */
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

  /** A copy with other system calls. */
  public HostOptions withSystemCalls(Sys calls) {
    return new HostOptions(calls, path, placement, config, budget, walkIns);
  }

  /** A copy with a file. */
  public HostOptions withPath(Path file) {
    return new HostOptions(systemCalls, file, placement, config, budget, walkIns);
  }

  /** A copy with another placement. */
  public HostOptions withPlacement(Placement laidOut) {
    return new HostOptions(systemCalls, path, laidOut, config, budget, walkIns);
  }

  /** A copy with other sizes. */
  public HostOptions withConfig(SegmentConfig sizes) {
    return new HostOptions(systemCalls, path, placement, sizes, budget, walkIns);
  }

  /** A copy with another budget. */
  public HostOptions withBudget(int messages) {
    return new HostOptions(systemCalls, path, placement, config, messages, walkIns);
  }

  /** A copy with other options for guests that walk in. */
  public HostOptions withWalkIns(PeerOptions options) {
    return new HostOptions(systemCalls, path, placement, config, budget, options);
  }
}
