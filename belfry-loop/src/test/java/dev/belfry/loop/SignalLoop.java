package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalLaunch;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.Driven;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** A loop driven by the test's thread, with a signal service; in a JVM that has signals blocked. */
final class SignalLoop implements AutoCloseable {
  static final Sys SYS = Sys.forAnyThread();
  static final int PID = (int) ProcessHandle.current().pid();

  /** Two realtime signals. */
  static final int RT = Signo.RTMIN + 6;

  static final int RT2 = Signo.RTMIN + 7;

  final EventLoop loop;
  final SignalService service;

  SignalLoop(EventLoop loop, SignalService service) {
    this.loop = loop;
    this.service = service;
  }

  /** An attached service with the default limit. */
  static SignalLoop attached(Backend backend, int... signums) throws Exception {
    return attached(EventLoop.open(backend), SignalService.PENDING_LIMIT, signums);
  }

  /** An attached service with a tap on its system calls. */
  static SignalLoop attached(Backend backend, SysTap tap, int... signums) throws Exception {
    return attached(LoopSupport.open(backend, tap), SignalService.PENDING_LIMIT, signums);
  }

  static SignalLoop attached(EventLoop loop, int pendingLimit, int... signums) throws Exception {
    var tested = new SignalLoop(loop, new SignalService(loop, pendingLimit));
    try {
      tested.attach(signums);
    } catch (Exception | Error e) {
      tested.close();
      throw e;
    }
    return tested;
  }

  /** A service that is not attached. */
  static SignalLoop open(Backend backend) throws IOException {
    EventLoop loop = EventLoop.open(backend);
    return new SignalLoop(loop, new SignalService(loop));
  }

  void attach(int... signums) throws Exception {
    call(
        () -> {
          service.attach(SignalSet.of(signums));
          return true;
        });
  }

  /** Attaches a service whose loop another thread drives. */
  static void attach(Driven driven, SignalService service, int signum) throws Exception {
    Coroutine<Boolean> attaching =
        driven
            .loop()
            .spawn(
                "attach",
                () -> {
                  service.attach(SignalSet.of(signum));
                  return true;
                });
    LoopSupport.get(attaching.result());
  }

  /** Runs an action on the loop thread; rethrows its exception here. */
  <T> T call(Callable<T> action) throws Exception {
    var result = new CompletableFuture<T>();
    loop.scheduler()
        .execute(
            () -> {
              try {
                result.complete(action.call());
              } catch (Exception | Error e) {
                result.completeExceptionally(e);
              }
            });
    drive(result::isDone);
    if (result.isCompletedExceptionally()) {
      switch (result.exceptionNow()) {
        case Exception e -> throw e;
        case Error e -> throw e;
        case Throwable e -> throw new AssertionError(e);
      }
    }
    return result.join();
  }

  void drive(BooleanSupplier until) throws IOException {
    LoopSupport.drive(loop, until);
  }

  /** Drives the loop until it is idle: signals pending in the kernel were read and handled. */
  void settle() throws IOException {
    loop.runUntilEmpty();
  }

  /** Waits for a signal with a callback. */
  Waiter waiter(int signum) {
    return new Waiter(service.next(signum));
  }

  int pending(int signum) {
    return service.queues(SigSet.of(signum)).pending(signum);
  }

  boolean hasWaiter(int signum) {
    return service.queues(SigSet.of(signum)).hasWaiter(signum);
  }

  @Override
  public void close() throws ErrnoException {
    loop.close();
    drainKernel();
  }

  /** Sends a signal to this process. */
  static void kill(int signum) throws ErrnoException {
    Processes.kill(SYS, PID, signum);
  }

  /** Queues realtime signals with these values for this process. */
  static void queue(int signum, int... values) throws ErrnoException {
    for (int value : values) {
      Processes.queue(SYS, PID, signum, value);
    }
  }

  /** Takes the signals left pending in the kernel, so that the next test does not find them. */
  static void drainKernel() throws ErrnoException {
    var records = new SignalRecords(Arena.ofAuto(), 64);
    try (SignalFd rest = SignalFd.open(SYS, SignalLaunch.SIGNALS)) {
      while (rest.read(records) > 0) {
        // Discarded.
      }
    }
  }

  /** A wait with its result. */
  static final class Waiter {
    final SignalOperation operation;
    private final CompletableFuture<List<Outcome>> done = new CompletableFuture<>();

    Waiter(SignalOperation operation) {
      this.operation = operation;
      operation.start(this::completed);
    }

    private void completed(Operation<? extends SignalInfo> completed) {
      assertThat(done.complete(List.of(completed.outcome()))).as("the first time").isTrue();
    }

    boolean isDone() {
      return done.isDone();
    }

    Outcome outcome() {
      return done.join().getFirst();
    }

    /** The value that came with the signal. */
    int value() throws IOException {
      return operation.result().intValue();
    }
  }
}
