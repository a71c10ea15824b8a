package dev.belfry.bench.files;

import dev.belfry.linux.OpenFlags;
import dev.belfry.loop.Backend;
import dev.belfry.loop.Completion;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.OpenOperation;
import dev.belfry.loop.Operation;
import dev.belfry.loop.RegularFile;
import dev.belfry.loop.TransferOperation;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Reads on a loop: one after another on epoll, concurrently on io_uring. */
record BelfryReads(Backend backend) implements FileReads {

  @Override
  public long read(Path path, boolean direct, long nanos) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      int flags = OpenFlags.READ_ONLY | (direct ? OpenFlags.direct() : 0);
      var reading = new Reading(loop, Files.size(path) / PAGE_BYTES, System.nanoTime() + nanos);
      OpenOperation opening = RegularFile.open(loop, path, flags, 0);
      opening.start(reading::opened);
      loop.run();
      opening.result().close();
      return reading.count;
    }
  }

  /** The concurrent reads. */
  private static final class Reading {
    private final EventLoop loop;
    private final SplittableRandom random = new SplittableRandom(1);
    private final long pages;
    private final long end;
    private long count;
    private int running = AT_ONCE;

    Reading(EventLoop loop, long pages, long end) {
      this.loop = loop;
      this.pages = pages;
      this.end = end;
    }

    void opened(Operation<? extends RegularFile> opening) {
      RegularFile file;
      try {
        file = opening.result();
      } catch (IOException e) {
        throw new IllegalStateException("the file cannot be read", e);
      }
      for (int i = 0; i < AT_ONCE; i++) {
        var page = Arena.ofAuto().allocate(PAGE_BYTES, PAGE_BYTES);
        TransferOperation read = file.readAt(page, place());
        read.start(new Next(this, read));
      }
    }

    void ended() {
      if (--running == 0) {
        loop.requestStop();
      }
    }

    private long place() {
      return FileReads.randomPlace(random, pages);
    }
  }

  private record Next(Reading reading, TransferOperation read) implements Completion<Integer> {
    @Override
    public void completed(Operation<? extends Integer> done) {
      if (!done.hasValue()) {
        throw new IllegalStateException("a read failed", done.error());
      }
      reading.count++;
      if (System.nanoTime() - reading.end < 0) {
        read.offset(reading.place()).start(this);
      } else {
        reading.ended();
      }
    }
  }
}
