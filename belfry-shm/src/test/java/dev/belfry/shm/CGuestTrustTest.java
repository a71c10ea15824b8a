package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A C guest trusts nothing that its host writes. */
@Timeout(600)
final class CGuestTrustTest {
  private static final boolean STRESS = Boolean.getBoolean("belfry.stress");
  private static final int ROUNDS = STRESS ? 300 : 15;
  private static final int ROUND_MILLIS = 30;

  @TempDir private static Path programs;
  private static List<String> stepping;

  @BeforeAll
  static void compile() throws Exception {
    // The sanitizers find what would go unnoticed otherwise, such as a read past the end of a
    // buffer.
    stepping =
        new CGuests(programs, "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover")
            .stepping();
  }

  /** A segment without a host, a guest in it, and whatever this test writes there. */
  private static final class Forgery implements AutoCloseable {
    final Segment segment;
    final SegmentLayout layout;
    final MemorySegment memory;
    final TestProcess guest;

    Forgery(Placement placement) throws Exception {
      this(placement, HostFixture.CONFIG);
    }

    Forgery(Placement placement, SegmentConfig config) throws Exception {
      segment = Segment.createAnonymous(Sys.forAnyThread(), placement, config);
      layout = segment.layout();
      memory = segment.memory().mapping();
      long pid = ProcessHandle.current().pid();
      String path = "--hub-path=/proc/%d/fd/%d".formatted(pid, segment.descriptor());
      guest = TestProcess.start(stepping.getFirst(), path);
      guest.say("attach");
      assertThat(guest.line()).isEqualTo("started");
      assertThat(guest.line()).isEqualTo("attached");
    }

    void descriptor(long kind, long slot, long generation, long offset, long length) {
      long at = layout.ring(1, Direction.TO_GUEST);
      memory.set(JAVA_LONG, at + 16, (slot & 0xffff_ffffL) | (generation << 32));
      memory.set(JAVA_LONG, at + 24, offset | (length << 32));
      memory.set(JAVA_LONG, at, kind | (layout.isPadded() ? 0x8000_0000L : 0));
      head(1);
    }

    void head(int value) {
      memory.set(JAVA_INT, layout.head(1, Direction.TO_GUEST), value);
    }

    /** Allocates a slot of the host's pool, as a sending host would. */
    void takeSlot(int slot, int generation) {
      memory.set(JAVA_LONG, layout.pool(0), layout.allFree(0) & ~(1L << slot));
      memory.set(JAVA_INT, layout.slot(0, slot), generation);
    }

    void assertViolation(String text) throws Exception {
      guest.say("receive");
      assertThat(guest.line()).as(text).isEqualTo("over violation");
      guest.say("error");
      assertThat(guest.line()).contains(text);
      guest.say("receive"); // without a deadline
      assertThat(guest.line()).isEqualTo("over violation");
      guest.say("send 1 1");
      assertThat(guest.line()).isEqualTo("OVER");
    }

    @Override
    public void close() throws IOException {
      guest.close();
      segment.close();
    }
  }

  private interface Lie {
    void tell(Forgery forgery);
  }

  private static void assertNoticed(Placement placement, String text, Lie lie) throws Exception {
    try (var forgery = new Forgery(placement)) {
      lie.tell(forgery);
      forgery.assertViolation(text);
    }
  }

  // r[verify shm.trust.descriptors]
  // r[verify shm.trust.slots]
  // r[verify shm.trust.counters]
  @ParameterizedTest
  @EnumSource
  void everyLieIsNoticed(Placement placement) throws Exception {
    assertNoticed(placement, "kind 0", it -> it.descriptor(0, -1, 0, 0, 0));
    assertNoticed(placement, "kind 8", it -> it.descriptor(8, -1, 0, 0, 0));
    assertNoticed(placement, "a generation", it -> it.descriptor(1, -1, 1, 0, 0));
    assertNoticed(placement, "an offset", it -> it.descriptor(1, -1, 0, 1, 0));
    assertNoticed(placement, "97 bytes", it -> it.descriptor(1, -1, 0, 0, 97));
    assertNoticed(placement, "4294967295 bytes", it -> it.descriptor(1, -1, 0, 0, 0xffff_ffffL));
    assertNoticed(placement, "payload of 1029", it -> it.descriptor(1, 0, 0, 0, 1029));
    assertNoticed(placement, "names slot 4", it -> it.descriptor(1, 4, 0, 0, 40));
    assertNoticed(placement, "starts at 1020", it -> it.descriptor(1, 0, 0, 1020, 40));
    assertNoticed(
        placement, "starts at 4294967295", it -> it.descriptor(1, 0, 0, 0xffff_ffffL, 40));
    assertNoticed(placement, "generation 5", it -> it.descriptor(1, 0, 5, 0, 40));
    assertNoticed(placement, "which is free", it -> it.descriptor(1, 0, 0, 0, 40));
    if (placement == Placement.V1) {
      assertNoticed(placement, "20 apart", it -> it.head(20));
    }
  }

  // r[verify shm.placement.pockets]
  @ParameterizedTest
  @ValueSource(ints = {501, 1152, 1153})
  void aLengthThatNoPocketCanHoldIsNoticed(int length) throws Exception {
    var atMost500 = new SegmentConfig(500, 0, 1, 8, 65536, 2, 1, 0);
    try (var forgery = new Forgery(Placement.PADDED, atMost500)) {
      forgery.descriptor(1, -1, 0, 0, length);
      forgery.assertViolation("inline message of %d bytes".formatted(length));
    }
  }

  @ParameterizedTest
  @EnumSource
  void aSlotThatComesTwiceIsNoticed(Placement placement) throws Exception {
    try (var forgery = new Forgery(placement)) {
      forgery.takeSlot(2, 7);
      forgery.descriptor(4, 2, 7, 0, 500);
      forgery.guest.say("receive");
      assertThat(forgery.guest.line()).isEqualTo("DATA 0 500");
      long at = forgery.layout.ring(1, Direction.TO_GUEST);
      long bytes = forgery.layout.ringBytes() / HostFixture.CONFIG.ringSize();
      MemorySegment.copy(forgery.memory, at, forgery.memory, at + bytes, bytes);
      forgery.takeSlot(2, 7);
      forgery.head(2);
      forgery.assertViolation("slot 2 came a second time");
    }
  }

  @ParameterizedTest
  @EnumSource
  void aTailThatIsAheadOfWhatWasSentIsNoticed(Placement placement) throws Exception {
    try (var forgery = new Forgery(placement)) {
      for (int i = 0; i < 3; i++) {
        forgery.guest.say("send 1 1");
        assertThat(forgery.guest.line()).isEqualTo("SENT");
      }
      forgery.memory.set(JAVA_INT, forgery.layout.tail(1, Direction.TO_HOST), 8);
      forgery.guest.say("block 1 1");
      assertThat(forgery.guest.line()).isEqualTo("blocking");
      assertThat(forgery.guest.line()).isEqualTo("OVER");
      forgery.guest.say("error");
      assertThat(forgery.guest.line()).contains("5 messages more than were sent");
    }
  }

  @ParameterizedTest
  @EnumSource
  void whateverTheHostWritesTheGuestSurvives(Placement placement) throws Exception {
    long seed = 20261116L + placement.version();
    var random = new Random(seed);
    int violations = 0;
    for (int round = 0; round < ROUNDS; round++) {
      try (var forgery = new Forgery(placement)) {
        forgery.guest.say("rubbish");
        assertThat(forgery.guest.line()).isEqualTo("reading rubbish");
        var ring = new Ring(forgery.segment, 1, Direction.TO_GUEST);
        long until = Sides.inMillis(ROUND_MILLIS);
        while (System.nanoTime() - until < 0) {
          for (int i = 0; i < 64; i++) {
            writeRubbish(forgery, random);
          }
          ring.wakeAll(); // so that the guest looks instead of sleeping
        }
        forgery.segment.sayGoodbye();
        String end = forgery.guest.line();
        assertThat(end)
            .as("round %d of seed %d", round, seed)
            .isIn("over violation", "over host_goodbye");
        violations += end.equals("over violation") ? 1 : 0;
      }
    }
    assertThat(violations).isGreaterThan(ROUNDS / 3); // otherwise it was not garbage
  }

  /** Mostly writes what looks like a message: anything else is noticed at once. */
  private static void writeRubbish(Forgery forgery, Random random) {
    SegmentLayout layout = forgery.layout;
    MemorySegment memory = forgery.memory;
    switch (random.nextInt(16)) {
      case 0 -> memory.set(JAVA_LONG, layout.pool(0), random.nextLong());
      case 1 -> memory.set(JAVA_INT, layout.slot(0, random.nextInt(4)), random.nextInt(3));
      case 2 -> memory.set(JAVA_INT, layout.tail(1, Direction.TO_HOST), random.nextInt(3));
      case 3 -> forgery.head(random.nextInt(4));
      default -> {
        long slots = layout.ringBytes() / HostFixture.CONFIG.ringSize();
        long at = layout.ring(1, Direction.TO_GUEST) + slots * random.nextInt(4);
        boolean inline = random.nextBoolean();
        long length = random.nextInt(inline ? 33 : 1029);
        long generation = inline ? 0 : random.nextInt(3);
        long lap = layout.isPadded() ? 0x8000L | random.nextInt(2) : 0;
        memory.set(
            JAVA_LONG, at + 16, (inline ? 0xffff_ffffL : random.nextInt(5)) | generation << 32);
        memory.set(JAVA_LONG, at + 24, length << 32);
        memory.set(JAVA_LONG, at, 1L + random.nextInt(7) | lap << 16);
      }
    }
  }
}
