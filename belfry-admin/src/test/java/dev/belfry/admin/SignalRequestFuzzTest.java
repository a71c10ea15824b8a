package dev.belfry.admin;

import com.code_intelligence.jazzer.junit.FuzzTest;

/**
 * Any body is either rejected with an error or parsed to a valid request. Without {@code
 * JAZZER_FUZZ=1} in the environment only known inputs run.
 */
final class SignalRequestFuzzTest {
  @FuzzTest(maxDuration = "30s")
  void aBodyIsRefusedOrSound(byte[] body) {
    try {
      SignalRequest request = SignalRequest.parse(body);
      if (!SignalRequest.SIGNALS.contains(request.signal())
          || request.reason().length() > SignalRequest.MAX_REASON
          || request.correlationId().orElse("").length() > SignalRequest.MAX_CORRELATION_ID) {
        throw new AssertionError("accepted " + request);
      }
    } catch (SignalRequest.Refused refused) {
      if (refused.text().length() > 200
          || refused.text().chars().anyMatch(c -> c < ' ' || c > '~')) {
        throw new AssertionError("answers with " + refused.text(), refused);
      }
    }
  }
}
