package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A guest that writes anything anywhere it can. The host's reader throws nothing but its protocol
 * violation, reads nothing outside the slots, and never exceeds its budget. With {@code
 * -Dbelfry.shm.checked=true} the mapping's own segment checks every access.
 */
final class HostileGuestTest {
  private static final int ROUNDS = Boolean.getBoolean("belfry.stress") ? 1_000_000 : 100_000;

  // r[verify shm.trust.counters]
  // r[verify shm.trust.descriptors]
  // r[verify shm.trust.slots]
  // r[verify shm.trust.channels]
  @ParameterizedTest
  @EnumSource
  void whateverAGuestWritesTheHostSurvives(Placement placement) throws IOException {
    long seed = 20261116;
    var random = new Random(seed);
    int delivered = 0;
    int violations = 0;
    try (var forger = new Forger(placement)) {
      for (int round = 0; round < ROUNDS; round++) {
        try {
          int before = delivered;
          delivered += forger.round(random.nextLong());
          assertThat(delivered - before).as("round %d of seed %d", round, seed).isBetween(0, 16);
        } catch (ProtocolViolation expected) {
          violations++;
          forger.comeAgain();
        }
      }
      assertThat(forger.checksum()).isNotZero();
    }
    // Otherwise there was too much garbage, or too little, to show anything.
    assertThat(delivered).isGreaterThan(ROUNDS / 20);
    assertThat(violations).isGreaterThan(ROUNDS / 100);
  }

  /** The same while the guest keeps writing, even between two reads of the same word. */
  // r[verify shm.trust.descriptors]
  @ParameterizedTest
  @EnumSource
  void whateverAGuestWritesMeanwhileTheHostSurvives(Placement placement) throws Exception {
    var over = new AtomicBoolean();
    int rounds = ROUNDS / 10;
    int violations = 0;
    try (var forger = new Forger(placement)) {
      var random = new Random(7);
      Thread writing =
          Thread.ofPlatform()
              .daemon()
              .start(
                  () -> {
                    var words = new Random(11);
                    while (!over.get()) {
                      forger.rewrite(words);
                    }
                  });
      try {
        for (int round = 0; round < rounds; round++) {
          try {
            forger.round(random.nextLong());
          } catch (ProtocolViolation expected) {
            violations++;
            forger.comeAgain();
          }
        }
      } finally {
        over.set(true);
        writing.join();
      }
    }
    assertThat(violations).isGreaterThan(rounds / 100);
  }
}
