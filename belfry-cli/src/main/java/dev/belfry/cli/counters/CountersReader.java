package dev.belfry.cli.counters;

import static dev.belfry.cli.counters.CountersLayout.DOUBLE;
import static dev.belfry.cli.counters.CountersLayout.INT;
import static dev.belfry.cli.counters.CountersLayout.LONG;

import dev.belfry.linux.Fd;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import dev.belfry.workers.Latency;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Reads the counters of a host, whether it is well, hangs or has died. Fields are found by the
 * description in the file, so a host of another version may have more or fewer. Thread-safe.
 */
public final class CountersReader implements AutoCloseable {
  private static final VarHandle LONG_AT = LONG.varHandle();

  /** Far more attempts than a host that writes once a second can spoil. */
  private static final int MAX_TRIES = 1000;

  private static final int MAX_FIELDS = 1000;

  private final Path path;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final Map<Counter, Integer> offsets = new EnumMap<>(Counter.class);
  private final int hostBytes;
  private final int workerBytes;
  private final int maxWorkers;
  private final long samplesOffset;
  private final int sampleBytes;

  /**
   * Opens a host's file.
   *
   * @throws IOException if the file is missing or does not hold counters
   */
  public static CountersReader open(Path path) throws IOException {
    return new CountersReader(path);
  }

  private CountersReader(Path path) throws IOException {
    this.path = path;
    try {
      this.memory = map();
      if ((long) LONG_AT.getAcquire(memory, CountersLayout.MAGIC_AT) != CountersLayout.MAGIC) {
        throw new IOException(path + " holds no counters");
      }
      int version = memory.get(INT, CountersLayout.VERSION_AT);
      if (version != CountersLayout.VERSION) {
        throw new IOException(
            "%s has version %d of the counters, and this program knows version %d"
                .formatted(path, version, CountersLayout.VERSION));
      }
      this.hostBytes = memory.get(INT, CountersLayout.HOST_BYTES_AT);
      this.workerBytes = memory.get(INT, CountersLayout.WORKER_BYTES_AT);
      this.maxWorkers = memory.get(INT, CountersLayout.MAX_WORKERS_AT);
      this.samplesOffset = memory.get(INT, CountersLayout.SAMPLES_OFFSET_AT);
      this.sampleBytes = memory.get(INT, CountersLayout.SAMPLE_BYTES_AT);
      readDescription();
    } catch (IOException | RuntimeException e) {
      arena.close();
      throw e;
    }
  }

  private MemorySegment map() throws IOException {
    Sys sys = Sys.forAnyThread();
    int flags = OpenFlags.READ_ONLY | OpenFlags.noFollow() | OpenFlags.NON_BLOCKING;
    try (Fd file = OpenFile.open(sys, path, flags, 0)) {
      FileStatus status = FileStatus.of(sys, file.number());
      if (!status.isRegular() || status.size() < CountersLayout.HEADER_BYTES) {
        throw new IOException(path + " holds no counters");
      }
      return SharedFile.map(sys, file.number(), status.size(), false, arena);
    }
  }

  private void readDescription() throws IOException {
    int fields = memory.get(INT, CountersLayout.FIELDS_AT);
    long fieldBytes = memory.get(INT, CountersLayout.FIELD_BYTES_AT);
    check(fields >= 0 && fields <= MAX_FIELDS && fieldBytes >= CountersLayout.FIELD_BYTES);
    check(CountersLayout.HEADER_BYTES + fields * fieldBytes <= samplesOffset);
    check(hostBytes >= 0 && workerBytes >= 0 && maxWorkers >= 0);
    check(
        CountersLayout.HOST_AT + (long) hostBytes + (long) maxWorkers * workerBytes <= sampleBytes
            && samplesOffset + 2L * sampleBytes <= memory.byteSize());
    check(samplesOffset % Long.BYTES == 0 && sampleBytes % Long.BYTES == 0);
    check(hostBytes % Long.BYTES == 0 && workerBytes % Long.BYTES == 0);
    for (int i = 0; i < fields; i++) {
      long at = CountersLayout.HEADER_BYTES + i * fieldBytes;
      String name =
          CountersLayout.text(memory, at + CountersLayout.NAME_AT, CountersLayout.NAME_BYTES);
      for (Counter counter : Counter.values()) {
        if (counter.text().equals(name)) {
          int offset = memory.get(INT, at + CountersLayout.OFFSET_AT);
          int room = counter.part == Counter.Part.HOST ? hostBytes : workerBytes;
          check(
              memory.get(INT, at + CountersLayout.PART_AT) == counter.part.number
                  && memory.get(INT, at + CountersLayout.TYPE_AT) == counter.type.number
                  && memory.get(INT, at + CountersLayout.BYTES_AT) == counter.type.bytes
                  && offset >= 0
                  && offset % Long.BYTES == 0
                  && offset <= room - counter.type.bytes);
          offsets.put(counter, offset);
        }
      }
    }
  }

  private void check(boolean makesSense) throws IOException {
    if (!makesSense) {
      throw new IOException(path + " holds counters whose description makes no sense");
    }
  }

  /** Returns the latest sample, consistent and complete. Never waits for the host. */
  public CountersSample read() throws IOException {
    try {
      for (int i = 0; i < MAX_TRIES; i++) {
        long number = (long) LONG_AT.getAcquire(memory, CountersLayout.LATEST_AT);
        if (number <= 0) {
          break;
        }
        MemorySegment sample =
            memory.asSlice(samplesOffset + (number % 2) * sampleBytes, sampleBytes);
        if ((long) LONG_AT.getAcquire(sample, CountersLayout.NUMBER_AT) != number) {
          continue; // being overwritten, so there is a later one
        }
        MemorySegment copy = MemorySegment.ofArray(new long[sampleBytes / Long.BYTES]);
        copy.copyFrom(sample);
        VarHandle.loadLoadFence();
        if ((long) LONG_AT.getOpaque(sample, CountersLayout.NUMBER_AT) == number) {
          return decode(number, copy);
        }
      }
      throw new IOException(path + " has no whole sample");
    } catch (InternalError fault) {
      throw new IOException(path + " was cut short", fault);
    }
  }

  private CountersSample decode(long number, MemorySegment sample) {
    long host = CountersLayout.HOST_AT;
    long count = Math.clamp(integer(sample, host, Counter.WORKERS), 0, maxWorkers);
    var workers = new ArrayList<WorkerStatus>();
    for (int i = 0; i < count; i++) {
      workers.add(worker(sample, host + hostBytes + (long) i * workerBytes));
    }
    return new CountersSample(
        number,
        integer(sample, host, Counter.PID),
        Instant.ofEpochMilli(integer(sample, host, Counter.STARTED_AT)),
        integer(sample, host, Counter.SAMPLED_AT),
        Duration.ofNanos(integer(sample, host, Counter.PERIOD)),
        pool(sample, host, workers));
  }

  private PoolStatus pool(MemorySegment sample, long at, List<WorkerStatus> workers) {
    return new PoolStatus(
        workers,
        (int) integer(sample, at, Counter.WAITING),
        integer(sample, at, Counter.DEATHS),
        (int) integer(sample, at, Counter.DEATHS_IN_A_ROW),
        integer(sample, at, Counter.CIRCUIT_OPEN) != 0,
        integer(sample, at, Counter.FINISHED),
        integer(sample, at, Counter.FAILED),
        integer(sample, at, Counter.REPEATED),
        integer(sample, at, Counter.DEAD_LETTERS),
        real(sample, at, Counter.CALLS_PER_SECOND),
        new Latency(
            integer(sample, at, Counter.LATENCY_P50),
            integer(sample, at, Counter.LATENCY_P99),
            integer(sample, at, Counter.LATENCY_MAX)),
        (int) integer(sample, at, Counter.SLOTS_USED),
        (int) integer(sample, at, Counter.SLOTS));
  }

  private WorkerStatus worker(MemorySegment sample, long at) {
    return new WorkerStatus(
        text(sample, at, Counter.WORKER_NAME),
        (int) integer(sample, at, Counter.WORKER_PID),
        text(sample, at, Counter.WORKER_STATE),
        (int) integer(sample, at, Counter.WORKER_IN_FLIGHT),
        integer(sample, at, Counter.WORKER_FINISHED),
        integer(sample, at, Counter.WORKER_AGE),
        new Latency(
            integer(sample, at, Counter.WORKER_LATENCY_P50),
            integer(sample, at, Counter.WORKER_LATENCY_P99),
            integer(sample, at, Counter.WORKER_LATENCY_MAX)),
        (int) integer(sample, at, Counter.WORKER_RING_DEPTH),
        (int) integer(sample, at, Counter.WORKER_RING_CAPACITY),
        integer(sample, at, Counter.WORKER_DEATHS));
  }

  // A field that the host does not have is zero or empty.

  private long integer(MemorySegment sample, long part, Counter counter) {
    Integer offset = offsets.get(counter);
    return offset == null ? 0 : sample.get(LONG, part + offset);
  }

  private double real(MemorySegment sample, long part, Counter counter) {
    Integer offset = offsets.get(counter);
    return offset == null ? 0 : sample.get(DOUBLE, part + offset);
  }

  private String text(MemorySegment sample, long part, Counter counter) {
    Integer offset = offsets.get(counter);
    return offset == null ? "" : CountersLayout.text(sample, part + offset, counter.type.bytes);
  }

  @Override
  public void close() {
    arena.close();
  }
}
