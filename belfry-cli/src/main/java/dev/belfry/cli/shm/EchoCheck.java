package dev.belfry.cli.shm;

import dev.belfry.linux.ExitStatus;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.Peer;
import dev.belfry.shm.Segment;
import dev.belfry.shm.SegmentConfig;
import dev.belfry.shm.SendResult;
import dev.belfry.shm.ShmException;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Sends messages to a guest and checks that each comes back unchanged and in order. Most are sent
 * one at a time and timed; every now and then a burst is sent. Not thread-safe.
 */
final class EchoCheck {
  private static final long PATIENCE_NANOS = 10_000_000_000L;
  private static final int BURST_EVERY = 16;
  private static final int BURST = 8;
  private static final MessageKind[] KINDS = MessageKind.values();

  private final Segment segment;
  private final Peer peer;
  private final List<Integer> sizes;
  private final int burst;
  private final Message message = new Message();
  private long[] roundTrips = new long[1024];
  private int timed;
  private int total;

  EchoCheck(Segment segment, Peer peer, List<Integer> sizes) {
    this.segment = segment;
    this.peer = peer;
    SegmentConfig config = segment.config();
    this.sizes = sizes.isEmpty() ? around(config) : sizes;
    this.burst = Math.min(BURST, Math.min(config.ringSize() - 1, config.slotsPerGuest()));
  }

  /** Sizes around the limit for inline payloads, and around the largest payload. */
  private static List<Integer> around(SegmentConfig config) {
    int most = config.maxPayloadSize();
    return Stream.of(0, 1, 31, 32, 33, 1000, most - 1, most)
        .filter(size -> size >= 0 && (size <= most || size <= 32))
        .distinct()
        .toList();
  }

  /** Exchanges {@code count} messages; returns the first error, or null. */
  @Nullable String exchange(int count) {
    try {
      int number = 0;
      while (number < count) {
        int some = number % BURST_EVERY == 0 ? Math.min(burst, count - number) : 1;
        String trouble = exchange(number, some);
        if (trouble != null) {
          return trouble;
        }
        number += some;
      }
      total = count;
      return null;
    } catch (ShmException e) {
      return "the guest does not keep to the format: " + e.getMessage();
    }
  }

  private @Nullable String exchange(int first, int some) {
    long began = System.nanoTime();
    for (int number = first; number < first + some; number++) {
      byte[] bytes = payload(number);
      SendResult result =
          peer.sendBlocking(
              kind(number), id(number), method(number), bytes, 0, bytes.length, deadline());
      if (result != SendResult.SENT) {
        return "message %d of %d bytes could not be sent: %s"
            .formatted(number, bytes.length, result);
      }
    }
    for (int number = first; number < first + some; number++) {
      Awaited awaited = peer.receiveBlocking(message, deadline());
      if (awaited != Awaited.READY) {
        return "no echo of message %d (%s, %d bytes): %s"
            .formatted(
                number,
                kind(number),
                payload(number).length,
                awaited == Awaited.OVER ? "the guest has ended" : "nothing within 10 s");
      }
      String difference = difference(number);
      if (difference != null) {
        return difference;
      }
    }
    if (some == 1) {
      time(System.nanoTime() - began);
    }
    return null;
  }

  private static long deadline() {
    return System.nanoTime() + PATIENCE_NANOS;
  }

  private @Nullable String difference(int number) {
    byte[] bytes = payload(number);
    String sent = describe(kind(number), id(number), method(number), bytes.length);
    String came = describe(message.kind(), message.id(), message.methodId(), message.length());
    if (!sent.equals(came)) {
      return "message %d: sent %s, got %s back".formatted(number, sent, came);
    }
    int at = Arrays.mismatch(bytes, message.toByteArray());
    return at < 0
        ? null
        : "message %d (%s): byte %d is %d, not %d"
            .formatted(number, sent, at, message.bytes()[at], bytes[at]);
  }

  private static String describe(MessageKind kind, long id, long method, int length) {
    return "%s with id %d, method %d, %d bytes".formatted(kind, id, method, length);
  }

  private static MessageKind kind(int number) {
    return KINDS[number % KINDS.length];
  }

  private static long id(int number) {
    return Integer.toUnsignedLong(number * 0x9e37_79b9); // spread over all unsigned 32-bit values
  }

  private static long method(int number) {
    return kind(number) == MessageKind.REQUEST ? number * 0x9e37_79b9_7f4a_7c15L : 0;
  }

  private byte[] payload(int number) {
    byte[] bytes = new byte[sizes.get(number % sizes.size())];
    for (int i = 0; i < bytes.length; i++) {
      bytes[i] = (byte) (number * 31 + i * 7);
    }
    return bytes;
  }

  private void time(long nanos) {
    if (timed == roundTrips.length) {
      roundTrips = Arrays.copyOf(roundTrips, 2 * timed);
    }
    roundTrips[timed++] = nanos;
  }

  /** Reports how many slots were not released; null if none. */
  @Nullable String slotsInUse() {
    int ours = segment.hostSlotsUsed();
    int theirs = peer.slotsUsed();
    return ours == 0 && theirs == 0
        ? null
        : "%d slots of the host and %d of the guest are still in use".formatted(ours, theirs);
  }

  /** The results; the component names are the field names of the JSON form. */
  private record Report(
      int messages, long minNanos, long p50Nanos, long p99Nanos, long maxNanos, String guest) {}

  String report(boolean json, @Nullable ExitStatus status) {
    long[] sorted = Arrays.copyOf(roundTrips, Math.max(timed, 1));
    Arrays.sort(sorted);
    var report =
        new Report(
            total,
            sorted[0],
            sorted[sorted.length / 2],
            sorted[(int) (sorted.length * 0.99)],
            sorted[sorted.length - 1],
            Objects.toString(status, "walked in"));
    if (json) {
      return JsonMapper.shared().writeValueAsString(report) + System.lineSeparator();
    }
    return "%,d messages came back as they were, all slots are free; guest: %s%n"
            .formatted(report.messages, report.guest)
        + "round trip  min %.1f us  p50 %.1f us  p99 %.1f us  max %.1f us%n"
            .formatted(
                report.minNanos / 1e3,
                report.p50Nanos / 1e3,
                report.p99Nanos / 1e3,
                report.maxNanos / 1e3);
  }
}
