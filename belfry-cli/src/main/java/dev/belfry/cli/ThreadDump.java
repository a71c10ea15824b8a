package dev.belfry.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** All threads and where they are, on standard error. */
public final class ThreadDump {
  /** For a standard error that nobody reads any more. */
  private static final Duration LIMIT = Duration.ofSeconds(1);

  /** Between looks at how far the dump is. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private static volatile Runnable beforeHalt = () -> {};

  private ThreadDump() {}

  /** Sets what has to be done even where no hooks are run, such as giving back a terminal. */
  public static void beforeHalt(Runnable action) {
    beforeHalt = action;
  }

  /** Prints what it can within a second, then ends the program without any hooks. */
  static void printAndHalt(int exitCode) {
    try {
      Thread printer =
          Thread.ofPlatform().daemon().name("belfry-dump").start(ThreadDump::giveBackAndPrint);
      printer.join(LIMIT);
    } catch (InterruptedException | OutOfMemoryError e) {
      // Nothing is as important now as ending.
    } finally {
      Runtime.getRuntime().halt(exitCode);
    }
  }

  private static void giveBackAndPrint() {
    beforeHalt.run();
    print();
  }

  /** Not by way of {@link System#err}: a thread that is stuck in it holds its lock. */
  public static void print() {
    // Closing it would close standard error for the whole program.
    print(new FileOutputStream(FileDescriptor.err), ThreadDump::dumpWithVirtualThreads);
  }

  /** Writes a dump to a new file. */
  interface Dumper {
    void dumpTo(Path file) throws IOException;
  }

  /**
   * Prints the dump while it is made: there may be so many threads that the program is ended before
   * it is complete, and the platform's threads come first.
   */
  static void print(OutputStream err, Dumper dumper) {
    try {
      Path directory = Files.createTempDirectory("belfry-dump");
      Path file = directory.resolve("threads.txt");
      var dump =
          new FutureTask<@Nullable Void>(
              () -> {
                dumper.dumpTo(file);
                return null;
              });
      Thread.ofPlatform().daemon().name("belfry-dump-file").start(dump);
      try (InputStream growing = openAndDelete(file, directory, dump)) {
        copy(growing, dump, err);
      }
      if (dump.state() != Future.State.FAILED) {
        return;
      }
    } catch (IOException | OutOfMemoryError noRoom) {
      // Then without them.
    }
    printPlatformThreads(err);
  }

  /** As soon as it is there; nothing is left of it then, in case the program is ended. */
  private static InputStream openAndDelete(Path file, Path directory, Future<?> dump)
      throws IOException {
    try {
      while (!Files.exists(file) && !dump.isDone()) {
        LockSupport.parkNanos(PAUSE_NANOS);
      }
      return Files.newInputStream(file);
    } finally {
      Files.deleteIfExists(file);
      Files.delete(directory);
    }
  }

  private static void copy(InputStream growing, Future<?> dump, OutputStream err) {
    try {
      boolean isComplete;
      do {
        isComplete = dump.isDone(); // what is in the file after that is the rest
        growing.transferTo(err);
        LockSupport.parkNanos(isComplete ? 0 : PAUSE_NANOS);
      } while (!isComplete);
    } catch (IOException closed) {
      // Then nobody wants to read it.
    }
  }

  private static void dumpWithVirtualThreads(Path file) throws IOException {
    ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
        .dumpThreads(file.toString(), ThreadDumpFormat.TEXT_PLAIN);
  }

  private static void printPlatformThreads(OutputStream err) {
    var out = new PrintStream(err, false, StandardCharsets.UTF_8);
    Thread.getAllStackTraces()
        .forEach(
            (thread, frames) -> {
              out.printf(
                  "%n#%d \"%s\" %s%n", thread.threadId(), thread.getName(), thread.getState());
              Arrays.stream(frames).forEach(frame -> out.println("      " + frame));
            });
    out.flush();
  }
}
