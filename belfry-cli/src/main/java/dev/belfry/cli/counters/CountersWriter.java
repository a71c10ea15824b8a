package dev.belfry.cli.counters;

import static dev.belfry.cli.counters.CountersLayout.DOUBLE;
import static dev.belfry.cli.counters.CountersLayout.INT;
import static dev.belfry.cli.counters.CountersLayout.LONG;
import static dev.belfry.cli.counters.CountersLayout.putText;

import dev.belfry.linux.Fd;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Writes the counters of a host to its file, once a second, on a thread of its own. {@link
 * CountersLayout} describes the bytes. Each file has one writer.
 */
public final class CountersWriter implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(CountersWriter.class.getName());
  private static final Duration PERIOD = Duration.ofSeconds(1);

  /** Readable by anyone who may enter its directory. */
  private static final int MODE = 0644;

  private static final VarHandle LONG_AT = LONG.varHandle();

  private final Path path;
  private final Supplier<PoolStatus> status;
  private final Duration period;
  private final long startedAtMillis = System.currentTimeMillis();
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final Thread thread;

  /** The latest sample's number; used by the opening thread, then only by the writing thread. */
  private long latest;

  private CountersWriter(Path path, Supplier<PoolStatus> status, Duration period)
      throws IOException {
    this.path = path;
    this.status = status;
    this.period = period;
    this.memory = map();
    this.thread = Thread.ofPlatform().daemon().name("belfry-counters").unstarted(this::run);
  }

  /**
   * Creates the file with a first sample, and starts the thread that writes the next ones.
   *
   * @param path the file, which must not exist yet
   * @param status called once a second
   */
  public static CountersWriter open(Path path, Supplier<PoolStatus> status) throws IOException {
    return open(path, status, PERIOD);
  }

  static CountersWriter open(Path path, Supplier<PoolStatus> status, Duration period)
      throws IOException {
    var writer = new CountersWriter(path, status, period);
    try {
      writer.writeDescription();
      writer.write();
    } catch (RuntimeException e) {
      writer.close();
      throw e;
    }
    LONG_AT.setRelease(writer.memory, CountersLayout.MAGIC_AT, CountersLayout.MAGIC);
    writer.thread.start();
    return writer;
  }

  private MemorySegment map() throws IOException {
    Sys sys = Sys.forAnyThread();
    int flags = OpenFlags.READ_WRITE | OpenFlags.CREATE | OpenFlags.EXCLUSIVE;
    try (Fd file = OpenFile.open(sys, path, flags, MODE)) {
      try {
        // Allocated now, so that a full disk is an error here and not a SIGBUS later.
        SharedFile.allocate(sys, file.number(), CountersLayout.TOTAL_BYTES);
        return SharedFile.map(sys, file.number(), CountersLayout.TOTAL_BYTES, true, arena);
      } catch (IOException e) {
        Files.delete(path);
        throw new IOException(
            "there is no room for the counters in %s: %s".formatted(path, e.getMessage()), e);
      }
    }
  }

  private void writeDescription() {
    memory.set(INT, CountersLayout.VERSION_AT, CountersLayout.VERSION);
    memory.set(INT, CountersLayout.FIELDS_AT, Counter.values().length);
    memory.set(INT, CountersLayout.FIELD_BYTES_AT, CountersLayout.FIELD_BYTES);
    memory.set(INT, CountersLayout.HOST_BYTES_AT, Counter.Part.HOST.bytes());
    memory.set(INT, CountersLayout.WORKER_BYTES_AT, Counter.Part.WORKER.bytes());
    memory.set(INT, CountersLayout.MAX_WORKERS_AT, CountersLayout.MAX_WORKERS);
    memory.set(INT, CountersLayout.SAMPLES_OFFSET_AT, CountersLayout.SAMPLES_OFFSET);
    memory.set(INT, CountersLayout.SAMPLE_BYTES_AT, CountersLayout.SAMPLE_BYTES);
    long at = CountersLayout.HEADER_BYTES;
    for (Counter counter : Counter.values()) {
      putText(memory, at + CountersLayout.NAME_AT, CountersLayout.NAME_BYTES, counter.text());
      putText(memory, at + CountersLayout.UNIT_AT, CountersLayout.UNIT_BYTES, counter.unit);
      memory.set(INT, at + CountersLayout.PART_AT, counter.part.number);
      memory.set(INT, at + CountersLayout.TYPE_AT, counter.type.number);
      memory.set(INT, at + CountersLayout.OFFSET_AT, counter.offset());
      memory.set(INT, at + CountersLayout.BYTES_AT, counter.type.bytes);
      at += CountersLayout.FIELD_BYTES;
    }
  }

  private void run() {
    try {
      while (!closing.await(period.toNanos(), TimeUnit.NANOSECONDS)) {
        try {
          write();
        } catch (RuntimeException | Error e) { // the next may succeed, as with memory
          LOG.log(Level.WARNING, "cannot write a sample to " + path, e);
        }
      }
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts it", e);
    }
  }

  private void write() {
    PoolStatus pool = status.get();
    long number = latest + 1;
    long at = CountersLayout.SAMPLES_OFFSET + (number % 2) * CountersLayout.SAMPLE_BYTES;
    LONG_AT.setOpaque(memory, at + CountersLayout.NUMBER_AT, CountersLayout.BEING_WRITTEN);
    VarHandle.storeStoreFence(); // a reader that sees a new field also sees BEING_WRITTEN
    long host = at + CountersLayout.HOST_AT;
    writeHost(host, pool);
    List<WorkerStatus> workers = pool.workers();
    int count = Math.min(workers.size(), CountersLayout.MAX_WORKERS);
    put(host, Counter.WORKERS, count);
    for (int i = 0; i < count; i++) {
      writeWorker(
          host + Counter.Part.HOST.bytes() + (long) i * Counter.Part.WORKER.bytes(),
          workers.get(i));
    }
    LONG_AT.setRelease(memory, at + CountersLayout.NUMBER_AT, number);
    LONG_AT.setRelease(memory, CountersLayout.LATEST_AT, number);
    latest = number;
  }

  private void writeHost(long at, PoolStatus pool) {
    put(at, Counter.SAMPLED_AT, System.nanoTime());
    put(at, Counter.PERIOD, period.toNanos());
    put(at, Counter.PID, ProcessHandle.current().pid());
    put(at, Counter.STARTED_AT, startedAtMillis);
    put(at, Counter.FINISHED, pool.finished());
    put(at, Counter.FAILED, pool.failed());
    put(at, Counter.REPEATED, pool.repeated());
    put(at, Counter.DEAD_LETTERS, pool.deadLetters());
    memory.set(DOUBLE, at + Counter.CALLS_PER_SECOND.offset(), pool.callsPerSecond());
    put(at, Counter.LATENCY_P50, pool.latency().p50Nanos());
    put(at, Counter.LATENCY_P99, pool.latency().p99Nanos());
    put(at, Counter.LATENCY_MAX, pool.latency().maxNanos());
    put(at, Counter.SLOTS_USED, pool.slotsUsed());
    put(at, Counter.SLOTS, pool.slots());
    put(at, Counter.WAITING, pool.waiting());
    put(at, Counter.DEATHS, pool.deaths());
    put(at, Counter.DEATHS_IN_A_ROW, pool.deathsInARow());
    put(at, Counter.CIRCUIT_OPEN, pool.circuitOpen() ? 1 : 0);
  }

  private void writeWorker(long at, WorkerStatus worker) {
    putText(memory, at + Counter.WORKER_NAME.offset(), Counter.Type.TEXT.bytes, worker.name());
    putText(memory, at + Counter.WORKER_STATE.offset(), Counter.Type.TEXT.bytes, worker.state());
    put(at, Counter.WORKER_PID, worker.pid());
    put(at, Counter.WORKER_AGE, worker.ageMillis());
    put(at, Counter.WORKER_IN_FLIGHT, worker.inFlight());
    put(at, Counter.WORKER_FINISHED, worker.finished());
    put(at, Counter.WORKER_LATENCY_P50, worker.latency().p50Nanos());
    put(at, Counter.WORKER_LATENCY_P99, worker.latency().p99Nanos());
    put(at, Counter.WORKER_LATENCY_MAX, worker.latency().maxNanos());
    put(at, Counter.WORKER_RING_DEPTH, worker.ringDepth());
    put(at, Counter.WORKER_RING_CAPACITY, worker.ringCapacity());
    put(at, Counter.WORKER_DEATHS, worker.deaths());
  }

  private void put(long part, Counter counter, long value) {
    memory.set(LONG, part + counter.offset(), value);
  }

  /** Stops writing and removes the file. Open readers can still read the last sample. */
  @Override
  public void close() throws IOException {
    closing.countDown();
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
    if (arena.scope().isAlive()) {
      arena.close();
    }
    Files.deleteIfExists(path);
  }
}
