package dev.belfry.shm;

import dev.belfry.shm.ProtocolViolation.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The channels between the host and one guest, as one side sees them. The host opens channels with
 * even ids, the guest with odd ones; the id is the index in the channel table.
 *
 * <p>One side ends a channel: it changes the entry from Active to Closed and sends Close or Reset.
 * The other side reads that message, drops its end and sets the entry to Free. Safe for use by any
 * number of threads, except that sending on a channel is confined to the thread of the outbox;
 * {@link Peer} and {@link ShmGuest} lift that restriction.
 */
// r[impl shm.flow.channel-table-indexing]
public final class Channels {
  static final int FREE = 0;
  static final int ACTIVE = 1;
  static final int CLOSED = 2;

  /** Guards the fields below, and is held while sending on a channel. */
  private final BriefLock lock = new BriefLock();

  private final Link link;
  private final Segment segment;
  private final Memory memory;
  private final int first;
  private final int count;

  /** Our end of each channel, as long as it is open here. */
  private final @Nullable Channel[] open;

  /** Channels that have ended, and that may still have messages in flight. */
  private final boolean[] ending;

  /** Our channels whose last life the peer has ended, so that it discards their data. */
  private final boolean[] endedByPeer;

  /** The counters of both rings when an entry of ours was first seen free again. */
  private final long[] quarantine;

  private final boolean[] quarantined;

  /**
   * Whether the entry may belong to another guest by now. Written with the lock held, like every
   * write to the table.
   */
  private volatile boolean over;

  Channels(Link link) {
    this.link = link;
    this.segment = link.segment();
    this.memory = segment.memory();
    this.count = segment.config().maxChannels();
    this.first = link.isHost() ? 2 : 1;
    this.open = new Channel[count];
    this.ending = new boolean[count];
    this.endedByPeer = new boolean[count];
    this.quarantine = new long[count];
    this.quarantined = new boolean[count];
  }

  /**
   * Opens a channel with a free id.
   *
   * @return null if all ids are in use, if the guest has not sent a message yet, until which it may
   *     still clear its table, or if the guest has left or is gone
   */
  // r[impl shm.id.channel-parity]
  // r[impl shm.flow.channel-activate]
  public @Nullable Channel open() {
    long credit = segment.config().initialCredit();
    if (credit > Integer.MAX_VALUE) {
      throw new IllegalStateException(
          "initial_credit is %d; with channels it is at most 2^31 - 1".formatted(credit));
    }
    lock.take();
    try {
      if (over || (link.isHost() && link.inbox().counter() == 0)) {
        return null;
      }
      return segment.use(() -> openFree((int) credit));
    } finally {
      lock.end();
    }
  }

  private @Nullable Channel openFree(int credit) {
    for (int id = first; id < count; id += 2) {
      if (open[id] == null && mayReuse(id)) {
        memory.setIntRelease(grantedAddress(id), credit);
        if (memory.compareAndSetInt(stateAddress(id), FREE, ACTIVE)) {
          return opened(id);
        }
      }
    }
    return null;
  }

  /**
   * Whether nothing of a channel's last life is in flight any more: its entry is free, we have read
   * everything that the peer had sent by then, and the peer has read everything that we had sent.
   */
  // r[impl shm.flow.channel-id-reuse]
  private boolean mayReuse(int id) {
    if (state(id) != FREE) {
      return false;
    }
    if (!ending[id]) {
      return true;
    }
    if (!quarantined[id]) {
      quarantined[id] = true;
      quarantine[id] =
          Integer.toUnsignedLong(link.inbox().ring().head())
              | ((long) link.outbox().counter() << 32);
    }
    boolean readAll = link.inbox().counter() - (int) quarantine[id] >= 0;
    boolean readByPeer = link.outbox().ring().tail() - (int) (quarantine[id] >>> 32) >= 0;
    return readAll && readByPeer;
  }

  /** Whether {@code id} is that of a channel which the peer can open. */
  boolean isPeers(long id) {
    return id > 0 && id < count && !isOurs((int) id);
  }

  private boolean isOurs(int id) {
    return (id & 1) == (first & 1);
  }

  private Channel opened(int id) {
    var channel = new Channel(link, id, endedByPeer[id]);
    ending[id] = false;
    quarantined[id] = false;
    open[id] = channel;
    return channel;
  }

  /**
   * The channel that a received message belongs to, if its kind concerns channels. A Data message
   * on a channel of the peer opens it here, too; Close and Reset end it.
   *
   * @return null if the channel has ended, so that the message is to be discarded
   * @throws ProtocolViolation if no such channel can exist
   */
  // r[impl shm.trust.channels]
  public @Nullable Channel of(Message message) {
    if (!message.kind().usesChannelId()) {
      throw new IllegalArgumentException(message + " has to do with no channel");
    }
    if (message.id() == 0 || message.id() >= count) {
      throw violation("names the channel %d of %d".formatted(message.id(), count));
    }
    int id = (int) message.id();
    int state = checked(id, message.channelState());
    lock.take();
    try {
      return message.kind() == MessageKind.DATA
          ? data(id, state)
          : segment.use(() -> ended(id, state));
    } finally {
      lock.end();
    }
  }

  private @Nullable Channel data(int id, int state) {
    Channel channel = open[id];
    if (channel != null) {
      return channel;
    }
    if (isOurs(id)) {
      if (!ending[id]) {
        throw violation("sends data on channel %d, which only we open".formatted(id));
      }
      return null;
    }
    if (state == FREE && !ending[id]) {
      throw violation("sends data on channel %d, which is free".formatted(id));
    }
    // Ended by us and active again: the peer started a new life only after we had read all of the
    // old one, and ends it only after we have seen it active (see Channel.end).
    return ending[id] && state != ACTIVE ? null : opened(id);
  }

  private @Nullable Channel ended(int id, int state) {
    if (state != CLOSED) {
      throw violation("ends channel %d, which it has not closed".formatted(id));
    }
    Channel channel = open[id];
    open[id] = null;
    if (channel != null) {
      channel.drop();
    }
    ending[id] = isOurs(id); // our messages may still be in flight; the peer has sent its last
    endedByPeer[id] = isOurs(id);
    quarantined[id] = false;
    if (!over) {
      memory.setIntRelease(stateAddress(id), FREE);
    }
    return channel;
  }

  /**
   * Ends a channel from this side. Messages in flight on it are discarded from now on.
   *
   * @return whether this side ended it
   */
  boolean close(Channel channel) {
    int id = channel.id();
    lock.take();
    try {
      if (over || open[id] != channel) {
        return false; // the peer was first, and the id may have another life by now
      }
      open[id] = null;
      ending[id] = true;
      quarantined[id] = false;
      state(id); // in truncated memory this throws, where a compare-and-set crashes the JVM
      boolean byUs = memory.compareAndSetInt(stateAddress(id), ACTIVE, CLOSED);
      endedByPeer[id] &= !byUs;
      return byUs;
    } finally {
      lock.end();
    }
  }

  /** Grants credit on a channel, unless it has ended; returns whether it did. */
  boolean grant(Channel channel, int bytes) {
    lock.take();
    try {
      if (channel.isEnded()) {
        return false;
      }
      memory.getAndAddIntRelease(grantedAddress(channel.id()), bytes);
      return true;
    } finally {
      lock.end();
    }
  }

  /** Stops all writing: the guest has left or is gone, and its entry may go to another. */
  void end() {
    lock.take();
    over = true;
    lock.end();
  }

  /** Held while a message is sent on a channel; see {@link Channel#send}. */
  BriefLock lock() {
    return lock;
  }

  /** Whether writing has stopped. */
  boolean isOver() {
    return over;
  }

  int state(int id) {
    return checked(id, peek(id));
  }

  /**
   * The raw state of a channel. It is read for a received message before the tail is stored: after
   * that the peer may start the channel's next life, to which the message does not belong.
   */
  int peek(int id) {
    boolean exists = Integer.compareUnsigned(id, count) < 0;
    return exists ? memory.getIntAcquire(stateAddress(id)) : FREE;
  }

  private static int checked(int id, int state) {
    if (state < FREE || state > CLOSED) {
      throw violation("gave channel %d the state %d".formatted(id, state));
    }
    return state;
  }

  private long stateAddress(int id) {
    return memory.address(segment.layout().channelState(link.peer(), id), Integer.BYTES);
  }

  private long grantedAddress(int id) {
    return memory.address(segment.layout().channelGranted(link.peer(), id), Integer.BYTES);
  }

  private static ProtocolViolation violation(String what) {
    return new ProtocolViolation(Kind.CHANNEL, "the peer " + what);
  }
}
