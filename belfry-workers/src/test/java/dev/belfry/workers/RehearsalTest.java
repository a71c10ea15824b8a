package dev.belfry.workers;

import static dev.belfry.workers.Pools.LONG;
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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a worker is asked before the first real call reaches it. */
@Timeout(120)
final class RehearsalTest {
  private final Pools.Told told = new Pools.Told();

  /**
   * Speaks the protocol directly: says hello, and answers each call with what it was asked before.
   */
  static final class Counting {
    private Counting() {}

    public static void main(String[] args) throws IOException {
      boolean rehearses = args[0].equals("rehearses");
      int rehearsed = 0;
      try (ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), args, WaitStrategy.ADAPTIVE)) {
        answer(guest, Protocol.HELLO, Status.DONE, Protocol.hello(List.of("rehearsed")));
        var message = new Message();
        while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
          if (message.kind() != MessageKind.REQUEST) {
            continue;
          }
          if (message.methodId() == Protocol.REHEARSAL) {
            rehearsed++;
            if (rehearses) {
              answer(guest, message.id(), Status.UNKNOWN_METHOD, new byte[0]);
            }
          } else {
            byte[] count = Integer.toString(rehearsed).getBytes(StandardCharsets.UTF_8);
            answer(guest, message.id(), Status.DONE, count);
          }
        }
      }
    }

    private static void answer(ShmGuest guest, long id, Status status, byte[] bytes) {
      guest.sendBlocking(
          MessageKind.RESPONSE, id, status.number(), bytes, 0, bytes.length, FutexWait.FOREVER);
    }
  }

  private PoolOptions options(String how) {
    var command = new ArrayList<>(TestProcess.javaCommand(Counting.class));
    command.add(how);
    return PoolOptions.of(command).workers(1).spares(0).listener(told);
  }

  @Test
  void aWorkerGetsCallsOnlyAfterItHasRehearsed() throws Exception {
    try (WorkerPool pool = Pools.open(options("rehearses"))) {
      assertThat(call(pool, "rehearsed", "")).isEqualTo(Integer.toString(Rehearsal.CALLS));
      assertThat(pool.status().finished()).as("a rehearsal is not counted").isEqualTo(1);
    }
  }

  @Test
  void aWorkerThatDoesNotTakePartIsNotReady() throws Exception {
    PoolOptions options = options("refuses").readyLimit(Duration.ofSeconds(2)).crashLimit(1);
    try (WorkerPool pool = WorkerPool.open(options)) {
      assertThat(pool.awaitReady(LONG)).isFalse();
      await().until(() -> told.deaths.size() == 1);
      assertThat(told.circuits).containsExactly(1);
      assertThat(told.deaths.getFirst().how())
          .isEqualTo("killed by SIGKILL (not ready within 2000 ms)");
    }
  }
}
