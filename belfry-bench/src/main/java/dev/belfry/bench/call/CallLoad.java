package dev.belfry.bench.call;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import org.HdrHistogram.Histogram;

/**
 * A number of callers, each on its own thread and with one call at a time, for a given time.
 *
 * @param callers how many
 * @param bytes the length of their payloads
 * @param perSecond how many calls per second are due, of all callers together; 0 for as many as
 *     possible. Latency counts from when a call was due, even if its caller was still busy with the
 *     previous one.
 * @param nanos how long
 */
record CallLoad(int callers, int bytes, int perSecond, long nanos) {

  /** The load as it appears in the results. */
  Map<String, Object> params() {
    var params = new LinkedHashMap<String, Object>();
    params.put("callers", callers);
    params.put("payloadBytes", bytes);
    if (perSecond > 0) {
      params.put("callsDuePerSecond", perSecond);
    }
    return params;
  }

  static CallLoad parse(String line) {
    String[] words = line.split(" ", -1);
    return new CallLoad(
        Integer.parseInt(words[0]),
        Integer.parseInt(words[1]),
        Integer.parseInt(words[2]),
        Long.parseLong(words[3]));
  }

  /** A line for {@link #parse}. */
  String line() {
    return callers + " " + bytes + " " + perSecond + " " + nanos;
  }

  /** The same load for another time. */
  CallLoad lasting(long otherNanos) {
    return new CallLoad(callers, bytes, perSecond, otherNanos);
  }

  CallFigures run(Calling calling) throws Exception {
    var together = new CyclicBarrier(callers);
    var tasks = new ArrayList<Callable<Histogram>>();
    for (int i = 0; i < callers; i++) {
      Caller caller = calling.caller(bytes);
      tasks.add(
          () -> {
            together.await();
            return perSecond > 0 ? callWhenDue(caller) : callOnAndOn(caller);
          });
    }
    Histogram all = CallFigures.histogram();
    long began = System.nanoTime();
    try (ExecutorService threads = calling.threads(callers)) {
      List<Future<Histogram>> done = threads.invokeAll(tasks);
      for (Future<Histogram> one : done) {
        all.add(one.get());
      }
    }
    return CallFigures.of(all, System.nanoTime() - began);
  }

  private Histogram callOnAndOn(Caller caller) throws Exception {
    Histogram latencies = CallFigures.histogram();
    byte[] payload = new byte[bytes];
    long began = System.nanoTime();
    long until = began + nanos;
    for (long number = 0; began - until < 0; number++) {
      call(caller, payload, number);
      long now = System.nanoTime();
      latencies.recordValue(now - began);
      began = now;
    }
    return latencies;
  }

  private Histogram callWhenDue(Caller caller) throws Exception {
    Histogram latencies = CallFigures.histogram();
    byte[] payload = new byte[bytes];
    long interval = 1_000_000_000L * callers / perSecond;
    long due = System.nanoTime();
    long until = due + nanos;
    for (long number = 0; due - until < 0; number++) {
      while (System.nanoTime() - due < 0) {
        Thread.onSpinWait(); // a sleep would overshoot by more than most calls take
      }
      call(caller, payload, number);
      long now = System.nanoTime();
      latencies.recordValue(now - due);
      if (now - until > nanos) {
        break; // it cannot keep up at all
      }
      due += interval;
    }
    return latencies;
  }

  private static void call(Caller caller, byte[] payload, long number) throws Exception {
    ByteBuffer.wrap(payload).putLong(0, number);
    if (!Arrays.equals(caller.call(payload), payload)) {
      throw new IllegalStateException("call %d was answered by something else".formatted(number));
    }
  }
}
