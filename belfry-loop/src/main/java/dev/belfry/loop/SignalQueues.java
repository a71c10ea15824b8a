package dev.belfry.loop;

import dev.belfry.linux.SigSet;
import dev.belfry.linux.Signo;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicLongArray;
import org.jspecify.annotations.Nullable;

/**
 * The waiters and the pending records of each signal, from one attach to its detach. A signal has
 * waiters or pending records, never both. Loop thread only.
 */
// r[impl sig.cancel.no-locks]
final class SignalQueues {
  /** A record and its position in the order of arrival, to which it returns if it is given back. */
  record Received(long number, SignalInfo info) {}

  /** A waiter's place in the queue of one signal; a waiter for several signals has one in each. */
  static final class Place {
    private final int signum;
    private final SignalOperation waiter;
    private @Nullable Place before;
    private @Nullable Place after;

    Place(int signum, SignalOperation waiter) {
      this.signum = signum;
      this.waiter = waiter;
    }
  }

  /** One signal: its waiters, or its pending records, in order. */
  private static final class Line {
    private final Deque<Received> pending = new ArrayDeque<>();
    private @Nullable Place first;
    private @Nullable Place last;

    void add(Place place) {
      place.before = last;
      if (last == null) {
        first = place;
      } else {
        last.after = place;
      }
      last = place;
    }

    void remove(Place place) {
      if (place.before == null) {
        first = place.after;
      } else {
        place.before.after = place.after;
      }
      if (place.after == null) {
        last = place.before;
      } else {
        place.after.before = place.before;
      }
      place.before = null;
      place.after = null;
    }
  }

  private final @Nullable Line[] lines = new @Nullable Line[Signo.RTMAX + 1];
  private final int pendingLimit;
  private final AtomicLongArray dropped;
  private long arrivals;
  private boolean closed;

  /**
   * Creates the queues of the given signals.
   *
   * @param pendingLimit how many records of one signal are kept while it has no waiter
   * @param dropped counts, for each signal, the records that were dropped
   */
  SignalQueues(SigSet signals, int pendingLimit, AtomicLongArray dropped) {
    this.pendingLimit = pendingLimit;
    this.dropped = dropped;
    signals.signals().forEach(signum -> lines[signum] = new Line());
  }

  /** A signal has come: it goes to the first waiter, or else to the end of the pending records. */
  // r[impl sig.fifo.waiters] r[impl sig.pending.queue] r[impl sig.pending.bound]
  void arrived(SignalInfo info) {
    Line line = line(info.signum());
    var received = new Received(arrivals++, info);
    if (!handOver(line, received)) {
      if (line.pending.size() < pendingLimit) {
        line.pending.addLast(received);
      } else {
        dropped.incrementAndGet(info.signum());
      }
    }
  }

  /**
   * A waiter returns its record: the next waiter gets it, or else it goes back to its place in the
   * order of arrival. The limit does not apply here.
   */
  // r[impl sig.cancel.notified]
  void giveBack(Received received) {
    Line line = line(received.info().signum());
    if (closed || handOver(line, received)) {
      return;
    }
    var older = new ArrayDeque<Received>();
    while (!line.pending.isEmpty() && line.pending.getFirst().number() < received.number()) {
      older.addLast(line.pending.removeFirst());
    }
    line.pending.addFirst(received);
    while (!older.isEmpty()) {
      line.pending.addFirst(older.removeLast());
    }
  }

  private boolean handOver(Line line, Received received) {
    Place place = line.first;
    if (place == null) {
      return false;
    }
    remove(place.waiter.places());
    place.waiter.notified(received);
    return true;
  }

  /** Takes the oldest pending record of these signals; null if there is none. */
  @Nullable Received take(Place[] places) {
    Line oldest = null;
    long number = Long.MAX_VALUE;
    for (Place place : places) {
      Line line = line(place.signum);
      Received head = line.pending.peekFirst();
      if (head != null && head.number() < number) {
        oldest = line;
        number = head.number();
      }
    }
    return oldest == null ? null : oldest.pending.removeFirst();
  }

  /** Takes the oldest pending record of a signal; null if there is none. */
  @Nullable Received take(int signum) {
    return line(signum).pending.pollFirst();
  }

  /** Adds a waiter at the end of the queue of each of its signals. */
  void add(Place[] places) {
    for (Place place : places) {
      line(place.signum).add(place);
    }
  }

  /** Removes a waiter from the queues of all its signals. */
  // r[impl sig.cancel.waiting]
  void remove(Place[] places) {
    for (Place place : places) {
      line(place.signum).remove(place);
    }
  }

  int pending(int signum) {
    return line(signum).pending.size();
  }

  boolean hasWaiter(int signum) {
    return line(signum).first != null;
  }

  /** Ends all waits, with an error or as stopped, and drops the pending records. */
  // r[impl sig.detach.drop]
  void close(@Nullable Throwable error) {
    closed = true;
    for (Line line : lines) {
      if (line != null) {
        line.pending.clear();
        Place place;
        while ((place = line.first) != null) {
          remove(place.waiter.places());
          place.waiter.ended(error);
        }
      }
    }
  }

  private Line line(int signum) {
    Line line = lines[signum];
    if (line == null) {
      throw new IllegalStateException(Signo.name(signum) + " is not attached");
    }
    return line;
  }
}
