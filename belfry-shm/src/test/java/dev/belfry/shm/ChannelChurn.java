package dev.belfry.shm;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * One of two processes that open channels, send on their own and end any of them, in no particular
 * order. The bytes of each message are the number of the channel's life, which only increases.
 */
final class ChannelChurn {
  private static final long DONE = 7;

  /** The longest time without a new life or a message; there is no limit on the total. */
  private static final long PATIENCE_NANOS = 20_000_000_000L;

  private final Link link;
  private final Random random;
  private final int lives;
  private final Message message = new Message();

  /** Our channels and the peer's, as far as they are open here. */
  private final Map<Integer, Channel> open = new HashMap<>();

  private final IdentityHashMap<Channel, Integer> lifeOf = new IdentityHashMap<>();

  /** The last life seen of each of the peer's channels. */
  private final Map<Integer, Integer> lastLife = new HashMap<>();

  private int begun;
  private int ownOpen;
  private int delivered;
  private boolean peerDone;

  ChannelChurn(Link link, int lives, long seed) {
    this.link = link;
    this.lives = lives;
    this.random = new Random(seed);
  }

  /** Runs until both sides have had all their lives; returns the number of messages received. */
  int run() {
    Sides.send(link, 0, new byte[0]); // from now on the host may open channels, too
    boolean saidDone = false;
    int progress = 0;
    long deadline = System.nanoTime() + PATIENCE_NANOS;
    while (!saidDone || !peerDone) {
      if (begun + delivered != progress) {
        progress = begun + delivered;
        deadline = System.nanoTime() + PATIENCE_NANOS;
      } else if (System.nanoTime() - deadline > 0) {
        throw new AssertionError("%d of %d lives, open: %s".formatted(begun, lives, open.keySet()));
      }
      switch (random.nextInt(6)) {
        case 0 -> openOne();
        case 1, 2 -> any().forEach(this::send);
        case 3 -> any().forEach(this::end);
        default -> receive();
      }
      if (!saidDone && begun == lives && ownOpen == 0) {
        saidDone = Sides.send(link, DONE, new byte[0]) == SendResult.SENT;
      }
    }
    return delivered;
  }

  private void openOne() {
    Channel channel = begun < lives ? link.channels().open() : null;
    if (channel != null) {
      open.put(channel.id(), channel);
      lifeOf.put(channel, ++begun);
      ownOpen++;
    }
  }

  private List<Channel> any() {
    return open.values().stream().skip(random.nextInt(open.size() + 1)).limit(1).toList();
  }

  private boolean isOurs(int id) {
    return id % 2 == (link.isHost() ? 0 : 1);
  }

  private void send(Channel channel) {
    if (isOurs(channel.id())) {
      channel.send(ByteBuffer.allocate(4).putInt(lifeOf.getOrDefault(channel, -1)).array(), 0, 4);
    }
  }

  private void end(Channel channel) {
    MessageKind how = random.nextBoolean() ? MessageKind.CLOSE : MessageKind.RESET;
    SendResult result = channel.end(how, System.nanoTime());
    // Without time to wait, it may time out if the peer has to read first, or if the ring is full.
    if (result == SendResult.SENT || result == SendResult.OVER) {
      forget(channel);
    }
  }

  private void forget(Channel channel) {
    if (open.remove(channel.id(), channel) && isOurs(channel.id())) {
      ownOpen--;
    }
    lifeOf.remove(channel);
  }

  private void receive() {
    if (!link.inbox().receive(message)) {
      if (link.isOver()) {
        throw new AssertionError("the peer is gone");
      }
      return;
    }
    if (!message.kind().usesChannelId()) {
      peerDone |= message.id() == DONE;
      return;
    }
    Channel channel = link.channels().of(message);
    if (channel == null) {
      return; // ended
    }
    if (message.kind() == MessageKind.DATA) {
      delivered(channel, ByteBuffer.wrap(message.bytes()).getInt());
    } else {
      forget(channel);
    }
  }

  private void delivered(Channel channel, int life) {
    Integer before = lifeOf.put(channel, life);
    int last = lastLife.getOrDefault(channel.id(), 0);
    if (before == null ? life <= last : life != before) {
      throw new AssertionError(
          "channel %d: life %d in %s, after %d".formatted(channel.id(), life, before, last));
    }
    lastLife.put(channel.id(), life);
    open.put(channel.id(), channel);
    channel.grant(message.length());
    delivered++;
  }
}
