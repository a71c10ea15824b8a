package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.UnaryOperator;

/**
 * A host and a guest in one process, each with its own mapping: for tests of content, not of
 * timing.
 */
final class Sides implements AutoCloseable {
  static final SegmentConfig CONFIG = new SegmentConfig(1020, 100, 2, 8, 1024, 4, 8, 0);

  final Segment host;
  final Segment guest;
  final Link toGuest;
  final Link toHost;

  private Sides(
      Sys sys,
      Placement placement,
      SegmentConfig config,
      WaitStrategy strategy,
      UnaryOperator<Memory> view)
      throws IOException {
    host = Segment.createAnonymous(sys, placement, config).through(view);
    guest = Segment.attach(sys, Path.of("/proc/self/fd/" + host.descriptor())).through(view);
    toHost = Link.walkIn(guest, strategy);
    toGuest = Link.toGuest(host, toHost.peer(), strategy);
  }

  static Sides of(Placement placement, SegmentConfig config) throws IOException {
    return of(Sys.forAnyThread(), placement, config, WaitStrategy.ADAPTIVE);
  }

  static Sides of(Sys sys, Placement placement, SegmentConfig config, WaitStrategy strategy)
      throws IOException {
    return new Sides(sys, placement, config, strategy, UnaryOperator.identity());
  }

  /** Two sides, each with a {@link TracedMemory}. */
  static Sides traced(Placement placement, SegmentConfig config) throws IOException {
    return new Sides(Sys.forAnyThread(), placement, config, WaitStrategy.SLEEP, TracedMemory::new);
  }

  /** The link that sends in a direction. */
  Link sender(Direction direction) {
    return direction == Direction.TO_HOST ? toHost : toGuest;
  }

  /** The link that receives in a direction. */
  Link receiver(Direction direction) {
    return direction == Direction.TO_HOST ? toGuest : toHost;
  }

  /** The whole segment. */
  java.lang.foreign.MemorySegment bytes() {
    return host.memory().mapping();
  }

  /** The number of free slots in a pool: 0 for the host's, else a peer id. */
  int freeSlots(int owner) {
    return SegmentSnapshot.freeSlots(host.memory(), host.layout(), owner);
  }

  /** A payload in which every byte depends on its position. */
  static byte[] payload(int length, int seed) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (seed * 31 + i * 7);
    }
    return bytes;
  }

  /** Sends a request; returns the result unchecked. */
  static SendResult send(Link link, long id, byte[] bytes) {
    return link.outbox().send(MessageKind.REQUEST, id, 0, bytes, 0, bytes.length);
  }

  /** The time some milliseconds from now. */
  static long inMillis(long millis) {
    return System.nanoTime() + millis * 1_000_000;
  }

  @Override
  public void close() throws IOException {
    guest.close();
    host.close();
  }
}
