package dev.belfry.shm;

/** Starts the counters of a ring close to overflow, as after four billion messages. */
final class WrapStart {
  private WrapStart() {}

  static void at(Segment segment, Link sender, Link receiver, int counter) {
    Memory memory = segment.memory();
    Direction direction = sender.isHost() ? Direction.TO_GUEST : Direction.TO_HOST;
    SegmentLayout layout = segment.layout();
    memory.setInt(memory.address(layout.head(sender.peer(), direction), 4), counter);
    memory.setInt(memory.address(layout.tail(sender.peer(), direction), 4), counter);
    sender.outbox().startAt(counter);
    receiver.inbox().startAt(counter);
  }
}
