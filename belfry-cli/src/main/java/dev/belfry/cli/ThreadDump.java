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

/** Prints all threads and their stacks to standard error. */
public final class ThreadDump {
  /** How long printing may take, in case nobody reads standard error. */
  private static final Duration LIMIT = Duration.ofSeconds(1);

  /** Between checks of how far the dump has got. */
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

  private static volatile Runnable beforeHalt = () -> {};

  private ThreadDump() {}

  /** Sets what must run even where shutdown hooks do not, such as restoring the terminal. */
  public static void beforeHalt(Runnable action) {
    beforeHalt = action;
  }

  /** Prints what it can within a second, then halts without running shutdown hooks. */
  static void printAndHalt(int exitCode) {
    try {
      Thread printer =
          Thread.ofPlatform().daemon().name("belfry-dump").start(ThreadDump::giveBackAndPrint);
      printer.join(LIMIT);
    } catch (InterruptedException | OutOfMemoryError e) {
      // Ending matters more.
    } finally {
      Runtime.getRuntime().halt(exitCode);
    }
  }

  private static void giveBackAndPrint() {
    beforeHalt.run();
    print();
  }

  /** Prints without using {@link System#err}: a thread stuck in it holds its lock. */
  public static void print() {
    // Not closed: that would close standard error for the whole program.
    print(new FileOutputStream(FileDescriptor.err), ThreadDump::dumpWithVirtualThreads);
  }

  /** Writes a dump to a new file. */
  interface Dumper {
    void dumpTo(Path file) throws IOException;
  }

  /**
   * Prints the dump while it is being made. With very many threads, the program may be halted
   * before it is complete; platform threads come first.
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
      // Print without virtual threads.
    }
    printPlatformThreads(err);
  }

  /** Opens the file once it exists and deletes it at once, in case the program is halted. */
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
        isComplete = dump.isDone(); // read first: a dump that is done has written all
        growing.transferTo(err);
        LockSupport.parkNanos(isComplete ? 0 : PAUSE_NANOS);
      } while (!isComplete);
    } catch (IOException closed) {
      // Standard error has no reader any more.
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
