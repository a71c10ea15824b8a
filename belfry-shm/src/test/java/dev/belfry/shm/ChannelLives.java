package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Two sides that open channels, send, receive and end them in random order, one step at a time. The
 * bytes of each message are the number of the channel's life, which both sides know.
 */
final class ChannelLives {
  private final Random random;
  private final Side[] sides;

  /** The current or the last life of an id. */
  private final Map<Integer, Integer> lifeOfId = new HashMap<>();

  private int lives;
  private int delivered;

  ChannelLives(Sides sides, Random random) {
    this.random = random;
    this.sides = new Side[] {new Side(sides.toHost), new Side(sides.toGuest)};
    Sides.send(sides.toHost, 1, new byte[0]); // from now on the host may open channels, too
    sides.toGuest.inbox().receive(new Message());
  }

  int lives() {
    return lives;
  }

  int delivered() {
    return delivered;
  }

  void step() {
    Side side = sides[random.nextInt(2)];
    switch (random.nextInt(8)) {
      case 0 -> side.open();
      case 1, 2, 3 -> side.send();
      case 4 -> side.end();
      default -> side.receive();
    }
  }

  /** Reads everything; then every id can be opened again. */
  void finish() {
    for (int i = 0; i < 1000; i++) {
      sides[i & 1].receive();
    }
    for (Side side : sides) {
      side.endAll();
    }
    for (int i = 0; i < 1000; i++) {
      sides[i & 1].receive();
    }
    int reopened = 0;
    for (Side side : sides) {
      while (side.link.channels().open() != null) {
        reopened++;
      }
    }
    assertThat(reopened).as("no id is lost").isEqualTo(7);
  }

  private final class Side {
    final Link link;
    private final Message message = new Message();
    private final Map<Integer, Channel> open = new HashMap<>();

    Side(Link link) {
      this.link = link;
    }

    void open() {
      Channel channel = link.channels().open();
      if (channel != null) {
        assertThat(open.put(channel.id(), channel)).isNull();
        lifeOfId.put(channel.id(), ++lives);
      }
    }

    void send() {
      Channel channel = any();
      if (channel != null) {
        byte[] life = ByteBuffer.allocate(4).putInt(lifeOfId.getOrDefault(channel.id(), 0)).array();
        channel.send(life, 0, 4);
      }
    }

    private @Nullable Channel any() {
      for (Channel channel : open.values()) {
        if (random.nextInt(open.size()) == 0) {
          return channel;
        }
      }
      return open.isEmpty() ? null : open.values().iterator().next();
    }

    void end() {
      Channel channel = any();
      if (channel != null) {
        endNow(channel);
      }
    }

    private void endNow(Channel channel) {
      MessageKind how = random.nextBoolean() ? MessageKind.CLOSE : MessageKind.RESET;
      SendResult result = channel.end(how, System.nanoTime());
      // Without time to wait, it may time out if the peer has to read first, or if the ring is
      // full.
      if (result == SendResult.SENT || result == SendResult.OVER) {
        open.remove(channel.id());
      }
    }

    void endAll() {
      for (Channel channel : Map.copyOf(open).values()) {
        endNow(channel);
      }
    }

    void receive() {
      if (!link.inbox().receive(message) || !message.kind().usesChannelId()) {
        return;
      }
      Channel channel = link.channels().of(message);
      if (message.kind() != MessageKind.DATA) {
        open.remove((int) message.id());
      } else if (channel != null) {
        open.put(channel.id(), channel);
        int life = ByteBuffer.wrap(message.bytes()).getInt();
        assertThat(life)
            .as("life of channel %d", channel.id())
            .isEqualTo(lifeOfId.get(channel.id()));
        channel.grant(message.length());
        delivered++;
      }
    }
  }
}
