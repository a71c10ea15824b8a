package dev.belfry.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

/** How a dump is copied to standard error. {@code EndingSignalsIT} makes real ones. */
@Timeout(value = 120, threadMode = ThreadMode.SEPARATE_THREAD)
class ThreadDumpTest {
  /** Regression: with ten thousand threads, the program was halted before anything was printed. */
  @Test
  void itIsPrintedWhileItIsMade() {
    var isPrinted = new CountDownLatch(1);
    var err =
        new ByteArrayOutputStream() {
          @Override
          public synchronized void write(byte[] bytes, int offset, int length) {
            super.write(bytes, offset, length);
            isPrinted.countDown();
          }
        };
    ThreadDump.print(
        err,
        file -> {
          try (OutputStream out = Files.newOutputStream(file)) {
            out.write("the first threads\n".getBytes(UTF_8));
            isPrinted.await();
            out.write("the rest\n".getBytes(UTF_8));
          } catch (InterruptedException e) {
            throw new IOException(e);
          }
        });
    assertThat(err.toString(UTF_8)).isEqualTo("the first threads\nthe rest\n");
  }

  @Test
  void oneThatBreaksOffIsFollowedByThePlatformsThreads() {
    var err = new ByteArrayOutputStream();
    ThreadDump.print(
        err,
        file -> {
          Files.writeString(file, "the first threads\n");
          throw new IOException("no space left");
        });
    assertThat(err.toString(UTF_8))
        .startsWith("the first threads\n")
        .contains(Thread.currentThread().getName(), "ThreadDumpTest");
  }

  @Test
  void nothingIsLeftOfItsFile() throws Exception {
    var place = new CountDownLatch(1);
    var file = new Path[1];
    ThreadDump.print(
        OutputStream.nullOutputStream(),
        it -> {
          file[0] = Files.writeString(it, "threads\n");
          place.countDown();
        });
    place.await();
    assertThat(file[0].getParent()).doesNotExist();
  }
}
