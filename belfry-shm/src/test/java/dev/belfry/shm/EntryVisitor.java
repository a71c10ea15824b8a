package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.linux.Sys;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A foreign guest that attaches to the first entry the moment it is free, overwrites everything
 * that the host clears in a recovery, checks that its marks stay, and leaves; again and again.
 * Prints what it found of its predecessor, and what it lost.
 */
final class EntryVisitor {
  private static final long MARK = 0x5a5a_5a5a_5a5a_5a5aL;
  private static final int PEER = 1;

  /** Longer than a recovery takes. */
  private static final long STAY_NANOS = 50_000;

  private final Segment segment;
  private final Memory memory;
  private final List<MemorySegment> places = new ArrayList<>();

  private EntryVisitor(Segment segment) {
    this.segment = segment;
    this.memory = segment.memory();
    SegmentLayout layout = segment.layout();
    // From the end, so that what is cleared last is marked first.
    add(layout.channelTable(PEER) + layout.channelTableBytes() - Long.BYTES);
    add(layout.channelTable(PEER));
    add(layout.pool(PEER) + 8L * (layout.bitmapWords() - 1));
    add(layout.pool(PEER));
    add(layout.heartbeat(PEER));
    if (layout.isPadded()) { // no other ring has the guest's marks
      add(layout.ring(PEER, Direction.TO_GUEST) + layout.ringBytes() - Long.BYTES);
      add(layout.ring(PEER, Direction.TO_HOST));
      add(layout.keptSlots(PEER));
    }
  }

  private void add(long offset) {
    places.add(memory.mapping().asSlice(offset, Long.BYTES));
  }

  public static void main(String[] arguments) throws Exception {
    Segment segment = Segment.attach(Sys.forAnyThread(), Path.of(arguments[0]));
    var visitor = new EntryVisitor(segment);
    List<Long> clean = visitor.read();
    String found = "nothing";
    String lost = "nothing";
    for (int i = 1; i <= Integer.parseInt(arguments[1]); i++) {
      visitor.attach(i);
      List<Long> seen = visitor.read();
      visitor.places.forEach(it -> it.set(JAVA_LONG, 0, MARK));
      found = seen.equals(clean) ? found : seen + " at visit " + i;
      long until = System.nanoTime() + STAY_NANOS;
      while (System.nanoTime() - until < 0) {
        List<Long> now = visitor.read();
        boolean kept = now.stream().allMatch(it -> it == MARK);
        lost = kept ? lost : now + " at visit " + i;
      }
      visitor.leave(i);
    }
    System.out.println("found " + found + ", lost " + lost);
  }

  private List<Long> read() {
    return places.stream().map(it -> it.get(JAVA_LONG, 0)).toList();
  }

  private void attach(int epoch) {
    long address = segment.peers().pairAddress(PEER);
    long from = PeerTable.pair(PeerState.EMPTY, epoch - 1);
    while (!memory.compareAndSetLong(address, from, PeerTable.pair(PeerState.ATTACHED, epoch))) {
      Thread.onSpinWait();
    }
  }

  private void leave(int epoch) {
    memory.setLongRelease(
        segment.peers().pairAddress(PEER), PeerTable.pair(PeerState.GOODBYE, epoch));
  }
}
