package dev.belfry.shm;

import dev.belfry.shm.TicketException.Reason;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The command-line arguments that a spawned guest gets.
 *
 * @param hubPath the path of the segment
 * @param peerId the entry that is reserved for the guest
 * @param doorbell the descriptor of the guest's end of the bell
 */
// r[impl shm.spawn.args]
public record SpawnArguments(Path hubPath, int peerId, int doorbell) {
  private static final String HUB_PATH = "--hub-path=";
  private static final String PEER_ID = "--peer-id=";
  private static final String DOORBELL = "--doorbell-fd=";
  private static final Path OWN_DESCRIPTORS = Path.of("/proc/self/fd");

  /**
   * Finds the ticket among the arguments of a program and ignores all others. Touches no
   * descriptor.
   *
   * @throws TicketException if one of the three arguments is missing or invalid
   */
  public static SpawnArguments parse(String... arguments) throws TicketException {
    String path = valueOf(HUB_PATH, arguments);
    if (path == null || path.isEmpty()) {
      throw missing(Reason.MISSING_HUB_PATH, HUB_PATH + "PATH");
    }
    String peer = valueOf(PEER_ID, arguments);
    if (peer == null) {
      throw missing(Reason.MISSING_PEER_ID, PEER_ID + "N");
    }
    int peerId = number(peer);
    if (peerId < 1 || peerId > SegmentConfig.MAX_GUESTS) {
      throw new TicketException(
          Reason.INVALID_PEER_ID, PEER_ID + peer + ": a peer id is a number from 1 to 255");
    }
    String bell = valueOf(DOORBELL, arguments);
    if (bell == null) {
      throw missing(Reason.MISSING_DOORBELL, DOORBELL + "N");
    }
    int descriptor = number(bell);
    if (descriptor < 0) {
      throw new TicketException(
          Reason.INVALID_DOORBELL, DOORBELL + bell + ": the number of an open socket is needed");
    }
    return new SpawnArguments(path(path), peerId, descriptor);
  }

  /** The segment's descriptor, if the guest has inherited one. */
  OptionalInt inheritedSegment() {
    int descriptor = OWN_DESCRIPTORS.equals(hubPath.getParent()) ? number(lastName()) : -1;
    return descriptor < 0 ? OptionalInt.empty() : OptionalInt.of(descriptor);
  }

  private String lastName() {
    return String.valueOf(hubPath.getFileName());
  }

  /** The arguments to append to the guest's command line. */
  public List<String> toArguments() {
    return List.of(HUB_PATH + hubPath, PEER_ID + peerId, DOORBELL + doorbell);
  }

  private static @Nullable String valueOf(String option, String... arguments) {
    return Stream.of(arguments)
        .filter(argument -> argument.startsWith(option))
        .map(argument -> argument.substring(option.length()))
        .findFirst()
        .orElse(null);
  }

  private static int number(String text) {
    return text.matches("[0-9]{1,9}") ? Integer.parseInt(text) : -1;
  }

  private static Path path(String text) throws TicketException {
    try {
      return Path.of(text);
    } catch (InvalidPathException e) {
      throw new TicketException(Reason.MISSING_HUB_PATH, HUB_PATH + text + ": " + e.getMessage());
    }
  }

  private static TicketException missing(Reason reason, String option) {
    return new TicketException(
        reason, option + " is missing; a host passes it to the guests it starts");
  }
}
