package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A host whose loop no thread runs, because its program has forgotten to start the group. */
@Timeout(120)
final class IdleLoopTest {
  private static final HostOptions OPTIONS = HostOptions.DEFAULT.withConfig(HostFixture.CONFIG);

  private static <T> FutureTask<T> start(Callable<T> action) {
    var task = new FutureTask<T>(action);
    Thread.ofPlatform().daemon().start(task);
    return task;
  }

  /** The program used to hang without a word. */
  @Test
  void whoSpawnsAGuestIsWarned() throws Exception {
    var notices = new Notices();
    var warning = new CompletableFuture<String>();
    Logger logger = Logger.getLogger(LoopCall.class.getName());
    logger.setFilter(entry -> !warning.complete(new SimpleFormatter().formatMessage(entry)));
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      ShmHost host = ShmHost.create(group.next(), OPTIONS);
      SpawnTicket ticket = host.addPeer(notices.options());
      var spawned = start(() -> host.spawn(List.of("sh", "-c", "exit 7", "ticket"), ticket));
      assertThat(warning.get(60, TimeUnit.SECONDS)).contains("loop on epoll", "start its group");
      assertThat(spawned).isNotDone();
      group.start();
      assertThat(spawned.get(60, TimeUnit.SECONDS)).isSameAs(ticket.peer());
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone exit code 7");
      host.close();
    } finally {
      logger.setFilter(null);
    }
  }

  /** It used to wait for ever. */
  @Test
  void aHostEndsAtItsLimit() throws Exception {
    try (EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT)) {
      ShmHost host = ShmHost.create(group.next(), OPTIONS);
      host.addPeer(PeerOptions.DEFAULT);
      FutureTask<Boolean> closing =
          start(
              () -> {
                host.close(Duration.ofMillis(10));
                return true;
              });
      assertThat(closing.get(60, TimeUnit.SECONDS)).isTrue();
      assertThat(host.segment().isClosed()).isTrue();
      assertThat(host.peers()).isEmpty();
    }
  }
}
