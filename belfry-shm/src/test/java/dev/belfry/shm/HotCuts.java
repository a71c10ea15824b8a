package dev.belfry.shm;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Uses a segment in many ways until each is compiled, truncates its file, and prints how each way
 * reacts. Runs in a JVM of its own, where the compiler is left to itself.
 */
final class HotCuts implements AutoCloseable {
  private static final Sys SYS = Sys.forAnyThread();
  private static final int TIMES = 20_000;

  /** How often each way is used after the link is over, so that the compiler has seen its end. */
  private static final int TIMES_OVER = 200;

  /** One way to use the segment, and what keeps it going. */
  private record Way(Call before, Call call, Call after) {}

  private interface Call {
    Object make();
  }

  private final RunningLoop loop = RunningLoop.start();
  private final Path path;
  private final ShmHost host;
  private final ShmGuest guest;
  private final Peer peer;
  private final Channel channel;
  private final Message message = new Message();
  private final byte[] small = new byte[20];
  private final byte[] large = new byte[900];
  private final Map<String, Way> ways = new LinkedHashMap<>();
  private int round;

  private HotCuts(Path path, Placement placement) throws Exception {
    this.path = path;
    var guests = new ComeAndGone();
    HostOptions options =
        HostOptions.DEFAULT.withPlacement(placement).withConfig(Sides.CONFIG).withPath(path);
    host =
        ShmHost.create(loop.loop(), options.withWalkIns(PeerOptions.DEFAULT.withListener(guests)));
    guest = ShmGuest.walkIn(SYS, path, WaitStrategy.ADAPTIVE);
    peer = guests.come.take();
    channel = Objects.requireNonNull(guest.openChannel());
    addGuestsWays();
    addHostsWays();
    addLinksWays();
  }

  private void addGuestsWays() {
    Call read = () -> round % 20 != 0 || drain(peer); // now and then the ring is full
    Call grant = this::grantWhatIsRead;
    Call answer = () -> round % 3 == 0 || sent(peer.send(kind(), 2, 0, bytes(), 0, length()));
    add("guest.send", read, () -> guest.send(kind(), 1, 0, bytes(), 0, length()), read);
    add(
        "guest.sendBlocking",
        () -> drain(peer),
        () -> guest.sendBlocking(kind(), 1, 0, bytes(), 0, length(), soon()),
        read);
    add("guest.receive", answer, () -> guest.receive(message), () -> 0);
    add("guest.receiveBlocking", answer, () -> guest.receiveBlocking(message, soon()), () -> 0);
    add(
        "guest.receiveBlocking for a handler",
        answer,
        () -> guest.receiveBlocking(Message::toByteArray, message, soon()),
        () -> 0);
    add("guest.send on a channel", grant, () -> guest.send(channel, small, 0, 20, soon()), grant);
    add("channel.send", grant, () -> channel.send(small, 0, 20), () -> 0);
    add("channel.awaitCredit", grant, () -> channel.awaitCredit(1, soon()), () -> 0);
    add("channel.grant", () -> 0, () -> grant(channel, 1), () -> 0);
    add("channel.isEnded", () -> 0, channel::isEnded, () -> 0);
    add("guest.end", () -> 0, guest::end, () -> 0);
  }

  private void addHostsWays() {
    Call read = () -> round % 20 != 0 || drain(guest);
    Call send = () -> round % 3 == 0 || sent(guest.send(kind(), 1, 0, bytes(), 0, length()));
    add("peer.send", read, () -> peer.send(kind(), 2, 0, bytes(), 0, length()), read);
    add(
        "peer.sendBlocking",
        () -> drain(guest),
        () -> peer.sendBlocking(kind(), 2, 0, bytes(), 0, length(), soon()),
        read);
    add("peer.receive", send, () -> peer.receive(message), () -> 0);
    add("peer.receiveBlocking", send, () -> peer.receiveBlocking(message, soon()), () -> 0);
    add("host.poll", send, () -> host.poll((_, _) -> {}), () -> 0);
  }

  /** Ways to use a link that is not used otherwise meanwhile. */
  private void addLinksWays() {
    Outbox outbox = guest.link().outbox();
    Inbox inbox = guest.link().inbox();
    Inbox ofHost = peer.link().inbox();
    Call read = () -> round % 20 != 0 || drain(peer);
    Call answer = () -> round % 3 == 0 || sent(peer.send(kind(), 2, 0, bytes(), 0, length()));
    Call send = () -> round % 3 == 0 || sent(guest.send(kind(), 1, 0, bytes(), 0, length()));
    add("outbox.send", read, () -> outbox.send(kind(), 1, 0, bytes(), 0, length()), read);
    add("outbox.stage", read, () -> outbox.stage(kind(), 1, 0, bytes(), 0, length()), publish());
    add("inbox.receive", answer, () -> inbox.receive(message), () -> 0);
    add("inbox.receive all", answer, () -> inbox.receive(_ -> {}, message, 9), () -> 0);
    add("inbox and bytes", answer, () -> inbox.receive(Message::bytes, message, 9), () -> 0);
    add("inbox.receive and wait", send, () -> ofHost.receive(message, soon()), () -> 0);
    add("link.isOver", () -> 0, guest.link()::isOver, () -> 0);
  }

  private void add(String name, Call before, Call call, Call after) {
    ways.put(name, new Way(before, call, after));
  }

  private MessageKind kind() {
    return round % 2 == 0 ? MessageKind.REQUEST : MessageKind.RESPONSE;
  }

  private byte[] bytes() {
    return round % 4 == 0 ? large : small;
  }

  private int length() {
    return bytes().length;
  }

  private Call publish() {
    return () -> {
      guest.link().outbox().publish();
      return 0;
    };
  }

  private static long soon() {
    return System.nanoTime() + 2_000;
  }

  private static boolean sent(SendResult result) {
    return result == SendResult.SENT;
  }

  private boolean drain(Messenger messenger) {
    while (messenger.receive(message)) {
      // The next one.
    }
    return true;
  }

  private static int grant(Channel to, int bytes) {
    to.grant(bytes);
    return bytes;
  }

  private int grantWhatIsRead() {
    while (peer.receive(message)) {
      Channel of = message.kind() == MessageKind.DATA ? peer.channelOf(message) : null;
      if (of != null) {
        of.grant(message.length());
      }
    }
    return 0;
  }

  private void warmUp(Way way, int times) {
    for (round = 0; round < times; round++) {
      way.before().make();
      way.call().make();
      way.after().make();
    }
  }

  /** Uses everything, also after the end, so that there is little the compiler has not seen. */
  private void warmUp() {
    for (Way way : ways.values()) {
      warmUp(way, TIMES);
      drain(peer);
      drain(guest);
    }
  }

  private void useAfterTheEnd() {
    guest.link().close();
    peer.link().close();
    for (Way way : ways.values()) {
      for (int i = 0; i < TIMES_OVER; i++) {
        way.call().make();
      }
    }
  }

  private String cut(String name) throws Exception {
    Way way = Objects.requireNonNull(ways.get(name));
    warmUp(way, TIMES / 10);
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.WRITE)) {
      file.truncate(0);
    }
    try {
      return "nothing but " + way.call().make();
    } catch (SegmentLost lost) {
      return "lost";
    } catch (Throwable other) {
      return other + " at " + other.getStackTrace()[0];
    }
  }

  @Override
  public void close() throws IOException {
    try {
      guest.close();
    } catch (SegmentLost expected) {
      // It has logged why it could not say goodbye.
    } finally {
      host.close();
      loop.close();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Placement placement = Placement.valueOf(arguments[0]);
    Path directory = Path.of(arguments[1]);
    Map<String, Way> all;
    try (var first = new HotCuts(directory.resolve("first"), placement)) {
      first.warmUp();
      first.useAfterTheEnd();
      all = first.ways;
    }
    try (var second = new HotCuts(directory.resolve("second"), placement)) {
      second.warmUp();
    }
    for (String name : all.keySet()) {
      try (var next = new HotCuts(directory.resolve("next"), placement)) {
        System.out.println("cut " + name + ": " + next.cut(name));
      }
    }
    System.out.println("done");
  }
}
