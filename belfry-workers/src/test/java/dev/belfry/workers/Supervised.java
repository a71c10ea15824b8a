package dev.belfry.workers;

import static org.awaitility.Awaitility.await;

import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoopGroup;
import dev.belfry.loop.LoopOptions;
import dev.belfry.shm.HostOptions;
import dev.belfry.shm.ShmHost;
import java.io.IOException;

/** Workers without the pool around them, so that their treatment is visible. */
record Supervised(EventLoopGroup group, ShmHost host, Supervisor supervisor, CallMeter meter)
    implements AutoCloseable {
  static Supervised start(PoolOptions options) throws IOException {
    return start(options, Sys.forAnyThread());
  }

  static Supervised start(PoolOptions options, Sys sys) throws IOException {
    EventLoopGroup group = EventLoopGroup.open(1, LoopOptions.DEFAULT);
    group.start();
    ShmHost host = ShmHost.create(group.next(), HostOptions.DEFAULT.withSystemCalls(sys));
    var meter = new CallMeter(System.nanoTime());
    var supervisor = new Supervisor(options, host, new Gate(), meter, _ -> {});
    supervisor.start();
    return new Supervised(group, host, supervisor, meter);
  }

  /** The only active worker, once there is one. */
  PooledWorker worker() {
    await().until(() -> supervisor.crew().active().length == 1);
    return supervisor.crew().active()[0];
  }

  @Override
  public void close() throws IOException {
    supervisor.leave();
    host.close();
    group.close();
  }
}
