package dev.belfry.loop;

import static java.lang.System.Logger.Level.ERROR;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.SigSet;
import dev.belfry.linux.SignalClaim;
import dev.belfry.linux.SignalFd;
import dev.belfry.linux.SignalRecords;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A signalfd on a loop, with the claim that makes it the only reader of its signals. Closing it
 * gives the signals back to their previous reader.
 */
final class SignalReader extends Handle {
  private static final int RECORDS_PER_READ = 64;

  private final SignalFd signals;
  private @Nullable SignalClaim claim;

  /** Why the signals could not be taken over; set by the thread that changes a claim. */
  private volatile @Nullable ErrnoException failure;

  private SignalReader(EventLoop loop, SignalFd signals) {
    super(loop, signals.fd());
    this.signals = signals;
  }

  /** Takes the signals over from their current reader; on the loop thread. */
  // r[impl sig.fd.flags] r[impl sig.attach.one-loop]
  static SignalReader open(EventLoop loop, SigSet wanted) throws IOException {
    // The shared calls, because other claims come and go, and change our signals on their own
    // threads.
    var reader = new SignalReader(loop, SignalFd.open(loop.sharedSys, SigSet.EMPTY));
    reader.claim = SignalClaim.take(wanted, reader::update);
    ErrnoException failed = reader.failure;
    if (failed != null) {
      reader.close();
      throw failed;
    }
    return reader;
  }

  private void update(SigSet held) {
    try {
      signals.update(held);
    } catch (ErrnoException e) {
      failure = e;
      System.getLogger(SignalReader.class.getName())
          .log(ERROR, "cannot change the signals that are read to " + held, e);
    }
  }

  /** Gives the signals back while the descriptor still exists. Unblocks nothing. */
  // r[impl sig.detach.close]
  @Override
  void beforeClose() {
    Objects.requireNonNull(claim).close();
  }

  @Override
  boolean isEmptyAfterShortRead() {
    return true; // later signals cause another edge
  }

  /** Reads signals for as long as it is in flight, and passes each to the sink. */
  IoOperation<Void> drain(Consumer<SignalInfo> sink) {
    return new Drain(this, sink);
  }

  // r[impl sig.fd.signalfd] r[impl sig.fd.drain] r[impl sig.none.thread]
  private static final class Drain extends IoOperation<Void> {
    private final SignalFd signals;
    private final Consumer<SignalInfo> sink;
    private final SignalRecords records = new SignalRecords(Arena.ofAuto(), RECORDS_PER_READ);

    Drain(SignalReader reader, Consumer<SignalInfo> sink) {
      super(reader);
      this.signals = reader.signals;
      this.sink = sink;
    }

    @Override
    boolean isRead() {
      return true;
    }

    @Override
    long attempt(Sys sys) {
      return signals.read(sys, records);
    }

    @Override
    boolean accept(long count) {
      for (int i = 0; i < count; i++) {
        sink.accept(SignalInfo.of(records, i));
      }
      return false;
    }

    @Override
    boolean exhausts(long count) {
      return count < RECORDS_PER_READ;
    }

    @Override
    long bytesIn(long count) {
      return count * SignalRecords.RECORD_BYTES;
    }

    @Override
    String call() {
      return "read";
    }

    @Override
    Void value() {
      return nothing();
    }
  }
}
