package dev.belfry.workers;

import static dev.belfry.workers.Pools.call;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Sys;
import dev.belfry.shm.Awaited;
import dev.belfry.shm.FutexWait;
import dev.belfry.shm.Message;
import dev.belfry.shm.MessageKind;
import dev.belfry.shm.ShmGuest;
import dev.belfry.shm.WaitStrategy;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Workers that announce large answers to calls that were never made. */
@Timeout(120)
final class AnnouncingTest {
  private final Pools.Told told = new Pools.Told();

  /**
   * Announces as many answers as the call asks for, each of the maximum length, on every other
   * channel from the first on; then answers the call itself.
   */
  static final class Announcing {
    private Announcing() {}

    public static void main(String[] args) throws IOException {
      try (ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), args, WaitStrategy.ADAPTIVE)) {
        send(guest, Protocol.HELLO, 0, Protocol.hello(List.of("announce")));
        var message = new Message();
        while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
          if (message.kind() == MessageKind.REQUEST) {
            if (message.methodId() != Protocol.REHEARSAL) {
              announce(guest, message);
            }
            send(guest, message.id(), Status.DONE.number(), new byte[0]);
          }
        }
      }
    }

    private static void announce(ShmGuest guest, Message call) {
      String[] words =
          new String(call.bytes(), 4, call.length() - 4, StandardCharsets.UTF_8).split(" ", -1);
      int channel = Integer.parseInt(words[0]);
      for (int i = 0; i < Integer.parseInt(words[1]); i++) {
        send(
            guest,
            words[2].equals("mine") ? call.id() : 1_000_000 + i,
            Status.DONE.number() | Protocol.ANSWER_IN_CHUNKS,
            Protocol.answer(channel + 2 * i, Protocol.MAX_BYTES));
      }
    }

    private static void send(ShmGuest guest, long id, long field, byte[] bytes) {
      guest.sendBlocking(
          MessageKind.RESPONSE, id, field, bytes, 0, bytes.length, FutexWait.FOREVER);
    }
  }

  private PoolOptions options() {
    return PoolOptions.of(TestProcess.javaCommand(Announcing.class))
        .workers(1)
        .spares(0)
        .listener(told);
  }

  @Test
  void whatIsAnnouncedTakesNoMemoryBeforeItComes() throws Exception {
    try (WorkerPool pool = Pools.open(options())) {
      long before = usedMemory();
      call(pool, "announce", "1 60 others");
      assertThat(usedMemory() - before).isLessThan(2L * Protocol.MAX_BYTES);
      assertThat(told.deaths).isEmpty();
    }
  }

  /** On a channel that only the pool may open; on one that does not exist; twice for one call. */
  @ParameterizedTest
  @ValueSource(strings = {"2 1 others", "1000001 1 others", "1 2 mine"})
  void whoAnnouncesWhatCannotBeIsEnded(String what) throws Exception {
    try (WorkerPool pool = Pools.open(options())) {
      pool.start("announce", Pools.bytes(what), CallOptions.DEFAULT);
      await().until(() -> told.deaths.size() == 1);
    }
  }

  private static long usedMemory() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
  }
}
