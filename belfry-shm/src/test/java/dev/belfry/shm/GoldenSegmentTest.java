package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * A whole life, byte for byte: after each step, a segment of format 1 holds exactly what another
 * implementation of the format leaves there. For each step, the expectation lists every line of 16
 * bytes that is not zero.
 */
final class GoldenSegmentTest {
  private static final SegmentConfig CONFIG = new SegmentConfig(60, 262144, 2, 4, 64, 3, 4, 0);
  private static final long METHOD = 0xa1a2_a3a4_a5a6_a7a8L;
  private static final int LENGTH = 2176;

  /** The segments of that implementation, if they are available beside the project. */
  private static final Path REFERENCE =
      Path.of(System.getProperty("belfry.root")).resolveSibling("shared/data/shm-v1-golden");

  /** The expected bytes: line number to 32 hexadecimal digits. */
  private final Map<Integer, String> expected = new TreeMap<>();

  private void line(int offset, String hex) {
    expected.put(offset, hex.replace(" ", ""));
  }

  private static byte[] rising(int length, int first) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (first + 7 * i);
    }
    return bytes;
  }

  // r[verify shm.segment.header]
  // r[verify shm.segment.header-size]
  // r[verify shm.segment.magic]
  // r[verify shm.segment.peer-table]
  // r[verify shm.segment.peer-state]
  // r[verify shm.ring.initialization]
  // r[verify shm.slot.pool-header-size]
  // r[verify shm.slot.allocate]
  // r[verify shm.desc.size]
  // r[verify shm.crash.epoch]
  // r[verify shm.goodbye.guest]
  // r[verify shm.goodbye.host]
  @Test
  void everyStepOfALifeLeavesTheBytesOfTheFormat() throws IOException {
    try (Segment host = Segment.createAnonymous(Sys.forAnyThread(), Placement.V1, CONFIG);
        Segment guest =
            Segment.attach(Sys.forAnyThread(), Path.of("/proc/self/fd/" + host.descriptor()))) {
      created();
      assertBytes(host, "1-created");

      int peer = host.peers().reserve();
      line(0x80, "0300 0000 0100 0000 0000 0000 0000 0000");
      assertBytes(host, "2-reserved");

      Link toHost = Link.claim(guest, peer, WaitStrategy.SLEEP);
      line(0x80, "0100 0000 0100 0000 0000 0000 0000 0000");
      assertBytes(host, "3-attached");

      Link toGuest = Link.toGuest(host, peer, WaitStrategy.SLEEP);
      send(toGuest, MessageKind.REQUEST, 7, rising(5, 0xde));
      send(toGuest, MessageKind.DATA, 8, rising(40, 0x20));
      send(toHost, MessageKind.RESPONSE, 9, rising(32, 0x37));
      send(toHost, MessageKind.DATA, 11, rising(33, 0x76));
      fourInFlight();
      assertBytes(host, "4-four-in-flight");

      assertThat(receive(toGuest)).isEqualTo(2);
      assertThat(receive(toHost)).isEqualTo(2);
      line(0x80, "0100 0000 0100 0000 0200 0000 0200 0000");
      line(0x90, "0200 0000 0200 0000 0000 0000 0000 0000");
      line(0x100, "0700 0000 0000 0000 0000 0000 0000 0000");
      line(0x200, "0700 0000 0000 0000 0000 0000 0000 0000");
      assertBytes(host, "5-all-consumed");

      toHost.leave(0);
      line(0x80, "0200 0000 0100 0000 0200 0000 0200 0000");
      assertBytes(host, "6-goodbye");

      host.peers().recover(peer);
      line(0x80, "0000 0000 0100 0000 0000 0000 0000 0000");
      expected.remove(0x90);
      assertBytes(host, "7-after-goodbye");

      host.sayGoodbye();
      line(0x40, "0400 0000 0100 0000 0000 0000 0000 0000");
      assertBytes(host, "8-host-goodbye");
    }
  }

  private void created() {
    line(0x00, "5241 5041 4855 4201 0100 0000 8000 0000");
    line(0x10, "8008 0000 0000 0000 3c00 0000 0000 0400");
    line(0x20, "0200 0000 0400 0000 8000 0000 0000 0000");
    line(0x30, "0001 0000 0000 0000 4000 0000 0300 0000");
    line(0x40, "0400 0000 0000 0000 0000 0000 0000 0000");
    line(0xa0, "0004 0000 0000 0000 0002 0000 0000 0000");
    line(0xb0, "0006 0000 0000 0000 0000 0000 0000 0000");
    line(0xe0, "4006 0000 0000 0000 0003 0000 0000 0000");
    line(0xf0, "4008 0000 0000 0000 0000 0000 0000 0000");
    line(0x100, "0700 0000 0000 0000 0000 0000 0000 0000");
    line(0x200, "0700 0000 0000 0000 0000 0000 0000 0000");
    line(0x300, "0700 0000 0000 0000 0000 0000 0000 0000");
  }

  private void fourInFlight() {
    line(0x80, "0100 0000 0100 0000 0200 0000 0000 0000");
    line(0x90, "0200 0000 0000 0000 0000 0000 0000 0000");
    line(0x100, "0600 0000 0000 0000 0000 0000 0000 0000");
    line(0x140, "0100 0000 2027 2e35 3c43 4a51 585f 666d");
    line(0x150, "747b 8289 9097 9ea5 acb3 bac1 c8cf d6dd");
    line(0x160, "e4eb f2f9 0007 0e15 1c23 2a31 0000 0000");
    line(0x200, "0600 0000 0000 0000 0000 0000 0000 0000");
    line(0x240, "0100 0000 767d 848b 9299 a0a7 aeb5 bcc3");
    line(0x250, "cad1 d8df e6ed f4fb 0209 1017 1e25 2c33");
    line(0x260, "3a41 484f 5600 0000 0000 0000 0000 0000");
    line(0x400, "0200 0000 0900 0000 a8a7 a6a5 a4a3 a2a1");
    line(0x410, "ffff ffff 0000 0000 0000 0000 2000 0000");
    line(0x420, "373e 454c 535a 6168 6f76 7d84 8b92 99a0");
    line(0x430, "a7ae b5bc c3ca d1d8 dfe6 edf4 fb02 0910");
    line(0x440, "0400 0000 0b00 0000 a8a7 a6a5 a4a3 a2a1");
    line(0x450, "0000 0000 0100 0000 0000 0000 2100 0000");
    line(0x500, "0100 0000 0700 0000 a8a7 a6a5 a4a3 a2a1");
    line(0x510, "ffff ffff 0000 0000 0000 0000 0500 0000");
    line(0x520, "dee5 ecf3 fa00 0000 0000 0000 0000 0000");
    line(0x540, "0400 0000 0800 0000 a8a7 a6a5 a4a3 a2a1");
    line(0x550, "0000 0000 0100 0000 0000 0000 2800 0000");
  }

  private static void send(Link link, MessageKind kind, long id, byte[] bytes) {
    assertThat(link.outbox().send(kind, id, METHOD, bytes, 0, bytes.length))
        .isEqualTo(SendResult.SENT);
  }

  private static int receive(Link link) {
    var messages = new ArrayList<MessageKind>();
    return link.inbox().receive(message -> messages.add(message.kind()), new Message(), 10);
  }

  private void assertBytes(Segment segment, String step) throws IOException {
    byte[] bytes = segment.memory().mapping().toArray(JAVA_BYTE);
    assertThat(bytes).as(step).hasSize(LENGTH);
    if (Files.isDirectory(REFERENCE)) {
      assertThat(bytes).as(step).isEqualTo(Files.readAllBytes(REFERENCE.resolve(step + ".bin")));
    }
    List<String> found = new ArrayList<>();
    for (int offset = 0; offset < LENGTH; offset += 16) {
      String hex = HexFormat.of().formatHex(bytes, offset, offset + 16);
      if (!hex.equals("0".repeat(32))) {
        found.add("%04x %s".formatted(offset, hex));
      }
    }
    assertThat(found)
        .as(step)
        .containsExactlyElementsOf(
            expected.entrySet().stream()
                .map(line -> "%04x %s".formatted(line.getKey(), line.getValue()))
                .toList());
  }
}
