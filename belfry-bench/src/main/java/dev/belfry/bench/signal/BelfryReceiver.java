package dev.belfry.bench.signal;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.linux.Signo;
import dev.belfry.loop.Completion;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.LoopCarrier;
import dev.belfry.loop.Operation;
import dev.belfry.loop.SignalInfo;
import dev.belfry.loop.SignalOperation;
import dev.belfry.loop.SignalService;
import dev.belfry.loop.SignalSet;
import java.io.IOException;
import java.nio.file.Path;

/** Belfry's signal service, with a callback or a coroutine for each signal. */
public final class BelfryReceiver {
  static final int QUEUED = Signo.RTMIN + 6;

  private final EventLoop loop;
  private final SignalService service;
  private final Mailbox mailbox;

  private BelfryReceiver(EventLoop loop, Mailbox mailbox) {
    this.loop = loop;
    this.service = new SignalService(loop);
    this.mailbox = mailbox;
  }

  public static void main(String[] arguments) throws IOException {
    LoopCarrier.unavailabilityCause()
        .ifPresent(
            cause -> {
              throw new IllegalStateException(cause);
            });
    EventLoop loop = EventLoop.open();
    var receiver = new BelfryReceiver(loop, Mailbox.open(Path.of(arguments[1])));
    boolean callbacks = SignalContender.of(arguments[0]) == SignalContender.BELFRY_CALLBACK;
    loop.spawn("begin", () -> receiver.begin(callbacks));
    Thread.ofPlatform().name("loop").start(() -> drive(loop));
    ContenderMain.awaitEnd();
    System.exit(0);
  }

  private static void drive(EventLoop loop) {
    try {
      loop.run();
    } catch (IOException e) {
      throw new IllegalStateException("the loop failed", e);
    }
  }

  private boolean begin(boolean callbacks) throws IOException {
    service.attach(SignalSet.of(Signo.USR1, QUEUED));
    for (int signum : new int[] {Signo.USR1, QUEUED}) {
      SignalOperation next = service.next(signum);
      if (callbacks) {
        next.start(new Callback(next));
      } else {
        loop.spawn("receive", () -> receive(next));
      }
    }
    ContenderMain.ready("");
    return true;
  }

  /** One object handles one signal after another. */
  private final class Callback implements Completion<SignalInfo> {
    private final SignalOperation next;

    Callback(SignalOperation next) {
      this.next = next;
    }

    @Override
    public void completed(Operation<? extends SignalInfo> received) {
      try {
        note(received.result());
      } catch (IOException e) {
        throw new IllegalStateException("signals cannot be read", e);
      }
      next.start(this);
    }
  }

  private void receive(SignalOperation next) {
    try {
      while (true) {
        note(next.await());
      }
    } catch (IOException e) {
      throw new IllegalStateException("signals cannot be read", e);
    }
  }

  private void note(SignalInfo info) {
    long now = System.nanoTime();
    if (info.signum() == QUEUED) {
      mailbox.handled(info.intValue(), now);
    } else {
      mailbox.handled(now);
    }
  }
}
