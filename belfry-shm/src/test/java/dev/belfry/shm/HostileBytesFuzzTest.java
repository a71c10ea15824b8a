package dev.belfry.shm;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Whatever a guest writes wherever it can, the host's reader throws nothing but its protocol
 * violation and stays within its budget. Each ten bytes of input are a place and a word to write
 * there. Without {@code JAZZER_FUZZ=1} in the environment this only replays earlier findings.
 */
final class HostileBytesFuzzTest {
  /** A segment stays mapped until it is collected, and a process may have 65,530 mappings. */
  private static final int RUNS_PER_COLLECTION = 5_000;

  private static int runs;

  @FuzzTest(maxDuration = "30s")
  void theHostSurvives(byte[] bytes) throws IOException {
    if (++runs % RUNS_PER_COLLECTION == 0) {
      System.gc();
    }
    ByteBuffer input = ByteBuffer.wrap(bytes);
    Placement placement = bytes.length % 2 == 0 ? Placement.V1 : Placement.PADDED;
    try (var forger = new Forger(placement)) {
      while (input.remaining() >= Short.BYTES + Long.BYTES) {
        forger.overwrite(Short.toUnsignedInt(input.getShort()), input.getLong());
        try {
          int received = forger.look();
          if (received < 0 || received > Forger.BUDGET) {
            throw new AssertionError("received " + received);
          }
        } catch (ProtocolViolation expected) {
          forger.comeAgain();
        }
      }
    }
  }
}
