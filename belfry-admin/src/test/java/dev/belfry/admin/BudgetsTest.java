package dev.belfry.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
final class BudgetsTest {
  private final AtomicLong nanos = new AtomicLong();

  // r[verify signals.http.rate-config]
  // r[verify signals.http.log-all]
  @Test
  void theLimitCanBeSet() throws Exception {
    AdminOptions options =
        new AdminOptions().port(0).bearerToken(Secret.of(Transport.TOKEN)).signalRateLimit(2);
    try (Host host = Host.open(Transport.PLAIN, options)) {
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(429);
      assertThat(host.log)
          .extracting(it -> it.fields().get("status"), it -> it.fields().get("identity"))
          .containsExactly(tuple("202", "bearer"), tuple("202", "bearer"), tuple("429", "bearer"));
    }
  }

  // r[verify signals.http.rate-client]
  // r[verify signals.http.log-all]
  @Test
  void failuresFromTheOperatorsOwnAddressDoNotLockTheOperatorOut() throws Exception {
    try (Host host = Host.open(Transport.PLAIN)) {
      int unauthorized = 0;
      for (int i = 0; i < 100; i++) {
        // A forwarding header does not make it another address.
        Answered answered =
            host.sendAs(
                "POST", "/admin/signal", Map.of("X-Forwarded-For", "10.0.0." + i), new byte[0]);
        assertThat(answered.status()).isIn(401, 429);
        unauthorized += answered.status() == 401 ? 1 : 0;
      }
      assertThat(unauthorized).isEqualTo(10);
      assertThat(host.log).filteredOn(it -> it.fields().containsValue("401")).hasSize(10);
      assertThat(host.log).filteredOn(it -> it.fields().containsValue("429")).hasSize(90);
      for (int i = 0; i < 10; i++) {
        assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(202);
      }
      assertThat(host.signal("{\"signal\": \"USR1\"}").status()).isEqualTo(429);
    }
  }

  @Test
  void clientsHaveBudgetsOfTheirOwn() {
    var budgets = new ClientBudgets(1, nanos::get);
    assertThat(budgets.trySpend("10.0.0.1")).isZero();
    assertThat(budgets.trySpend("10.0.0.1")).isEqualTo(60);
    assertThat(budgets.trySpend("10.0.0.2")).isZero();
    nanos.addAndGet(Duration.ofSeconds(60).toNanos());
    assertThat(budgets.trySpend("10.0.0.1")).isZero();
  }

  @Test
  void aMillionAddressesKeepMemoryFlat() {
    var budgets = new ClientBudgets(10, nanos::get);
    long most = 0;
    for (int i = 0; i < 1_000_000; i++) {
      budgets.trySpend("10." + (i >> 16) + "." + (i >> 8 & 255) + "." + (i & 255));
      if (i % 50_000 == 0) {
        most = Math.max(most, budgets.size());
      }
    }
    System.out.printf("a million addresses: %d remembered at most%n", most);
    assertThat(budgets.size()).isLessThanOrEqualTo(ClientBudgets.MAX_CLIENTS);
    assertThat(most).isLessThanOrEqualTo(ClientBudgets.MAX_CLIENTS);
  }
}
