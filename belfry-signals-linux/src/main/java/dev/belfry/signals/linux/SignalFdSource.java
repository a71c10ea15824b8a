package dev.belfry.signals.linux;

import dev.belfry.linux.SigSet;
import dev.belfry.linux.Signo;
import dev.belfry.linux.ThreadSignals;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.SignalOperation;
import dev.belfry.loop.SignalService;
import dev.belfry.loop.SignalSet;
import dev.belfry.signals.Platform;
import dev.belfry.signals.Signal;
import dev.belfry.signals.SignalSource;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Signals from a signalfd, read by an event loop on a dedicated thread, so that TERM and a second
 * Ctrl+C are seen even while the program's own loop is stuck.
 *
 * <p>A signal that arrives before it is subscribed to stays pending in the kernel or in the loop's
 * signal service, and is delivered on subscription.
 */
final class SignalFdSource implements SignalSource {
  /** The signals of the standard. Any other blocked signal, such as CHLD, belongs to other code. */
  static final SigSet WANTED =
      SigSet.of(
          Signo.HUP,
          Signo.INT,
          Signo.QUIT,
          Signo.PIPE,
          Signo.ALRM,
          Signo.USR1,
          Signo.USR2,
          Signo.TERM);

  private static final Duration LONG = Duration.ofDays(1);

  /**
   * The polling interval while the JVM shuts down. An exiting JVM waits up to 300 milliseconds for
   * threads to leave native code; a thread blocked on the signalfd never would, and would delay
   * every exit by that much.
   */
  private static final long SHUTDOWN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final EventLoop loop;
  private final SignalService service;
  private final SigSet attached;
  private final Thread thread;
  private final Thread hook;
  private volatile boolean shuttingDown;

  private SignalFdSource(EventLoop loop, SigSet attached) {
    this.loop = loop;
    this.service = new SignalService(loop);
    this.attached = attached;
    this.thread = Thread.ofPlatform().daemon().name("belfry-signalfd").unstarted(this::drive);
    this.hook = Thread.ofPlatform().name("belfry-signalfd-end").unstarted(this::leaveNativeCode);
  }

  static SignalFdSource open() throws IOException {
    EventLoop loop = EventLoop.open();
    try {
      var source = new SignalFdSource(loop, WANTED.minus(ignored()));
      source.start();
      return source;
    } catch (IOException | RuntimeException e) {
      loop.requestStop();
      loop.close();
      throw e;
    }
  }

  /** Signals that were ignored when the process started, as nohup does; they must stay ignored. */
  private static SigSet ignored() throws IOException {
    return ThreadSignals.ofThisProcess().getFirst().ignored();
  }

  private void start() throws IOException {
    var begun = new CompletableFuture<Void>();
    loop.scheduler()
        .execute(
            () -> {
              try {
                service.attach(SignalSet.of(attached));
                begun.complete(null);
              } catch (IOException | IllegalStateException e) {
                begun.completeExceptionally(e);
              }
            });
    thread.start();
    try {
      begun.join();
    } catch (CompletionException e) {
      throw new IOException("cannot read signals", e.getCause());
    }
    Runtime.getRuntime().addShutdownHook(hook);
  }

  @Override
  public String name() {
    return "signalfd";
  }

  // r[impl signals.platform.unix-native]
  @Override
  public Optional<String> subscribe(Signal signal, Receiver receiver) {
    int number = signal.number(Platform.LINUX);
    if (!WANTED.contains(number)) {
      return Optional.of("the launcher does not block it");
    }
    if (!attached.contains(number)) {
      return Optional.of("it was ignored when the process started, as nohup and shells do");
    }
    receiveNext(service.next(number), signal, receiver);
    return Optional.empty();
  }

  private void receiveNext(SignalOperation next, Signal signal, Receiver receiver) {
    next.start(
        operation -> {
          if (operation.hasValue()) {
            receiveNext(next, signal, receiver);
            receiver.receive(signal);
          }
        });
  }

  private void drive() {
    try (loop) {
      while (!loop.isStopRequested()) {
        if (shuttingDown) {
          loop.runSome();
          LockSupport.parkNanos(SHUTDOWN_PAUSE_NANOS);
        } else {
          loop.runSome(LONG);
        }
      }
    } catch (IOException e) {
      System.getLogger("dev.belfry.signals")
          .log(System.Logger.Level.ERROR, "signals can no longer be read", e);
    }
  }

  private void leaveNativeCode() {
    shuttingDown = true;
    loop.scheduler().execute(() -> {}); // wakes the loop
  }

  @Override
  public void close() {
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException alreadyShuttingDown) {
      // The hook has run.
    }
    loop.requestStop();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
