package dev.belfry.cli;

import com.sun.management.HotSpotDiagnosticMXBean;
import com.sun.management.HotSpotDiagnosticMXBean.ThreadDumpFormat;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;

/** All threads and where they are, on standard error. */
public final class ThreadDump {
  /** For a standard error that nobody reads any more. */
  private static final Duration LIMIT = Duration.ofSeconds(1);

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
    var err = new FileOutputStream(FileDescriptor.err);
    byte[] dump;
    try {
      dump = withVirtualThreads();
    } catch (IOException noRoom) {
      printPlatformThreads(err);
      return;
    }
    try {
      err.write(dump); // the file is deleted by now, in case this never ends
    } catch (IOException closed) {
      // Then nobody wants to read it.
    }
  }

  /** The JDK writes this dump only into a new file. */
  private static byte[] withVirtualThreads() throws IOException {
    Path directory = Files.createTempDirectory("belfry-dump");
    Path file = directory.resolve("threads.txt");
    try {
      ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
          .dumpThreads(file.toString(), ThreadDumpFormat.TEXT_PLAIN);
      return Files.readAllBytes(file);
    } finally {
      Files.deleteIfExists(file);
      Files.delete(directory);
    }
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
