package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.SimpleFormatter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class FdTest {
  private static final Sys SYS = Sys.forAnyThread();

  private static Fd open(String what) {
    return Fd.own(SYS, SYS.eventfd(0, 0x80000), what);
  }

  @Test
  void closedItHasNoNumberAndTheSecondTimeNothingHappens() {
    Fd fd = open("the thing");
    int number = fd.number();
    assertThat(fd.isOpen()).isTrue();
    assertThat(fd).hasToString("descriptor " + number + " of the thing");

    fd.close();
    assertThat(SYS.close(number)).as("it is really closed").isEqualTo(-Errno.EBADF);
    fd.close();

    assertThat(fd.isOpen()).isFalse();
    assertThat(fd).hasToString("closed descriptor of the thing");
    assertThatThrownBy(fd::number)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the thing is closed");
  }

  @Test
  void releasedItStaysOpenForSomebodyElse() {
    Fd fd = open("the thing");
    int number = fd.release();

    assertThat(fd.isOpen()).isFalse();
    fd.close();
    assertThat(SYS.close(number)).as("still open").isZero();
    assertThatThrownBy(fd::release)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("the thing is closed");
    assertThatThrownBy(fd::number).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void whatSomebodyElseClosedIsReported() {
    Fd fd = open("the thing");
    int number = fd.number();
    SYS.close(number);

    assertThatThrownBy(fd::close)
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("descriptor " + number + " of the thing was closed by somebody else");
    fd.close();
  }

  @Test
  void aNumberBelowZeroIsNoDescriptor() {
    assertThatThrownBy(() -> Fd.own(SYS, -Errno.EMFILE, "nothing"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("-24");
  }

  @Test
  void whatIsForgottenIsLoggedWithThePlaceWhereItWasOpened() throws InterruptedException {
    Logger logger = Logger.getLogger(Fd.class.getName());
    var records = new LinkedBlockingQueue<LogRecord>();
    logger.setFilter(record -> !records.add(record)); // keeps them off the console
    try {
      closeInGoodOrder();
      int number = openAndForget();

      LogRecord record = awaitRecord(records);

      String message = new SimpleFormatter().formatMessage(record);
      assertThat(record.getLevel()).isEqualTo(Level.WARNING);
      assertThat(message)
          .startsWith("descriptor " + number + " of the forgotten thing was never closed")
          .contains("\tat " + FdTest.class.getName() + ".openAndForget(FdTest.java");
      assertThat(SYS.close(number)).as("somebody may still use it").isZero();
      assertThat(records).isEmpty();
    } finally {
      logger.setFilter(null);
    }
  }

  private static int openAndForget() {
    return open("the forgotten thing").number();
  }

  private static void closeInGoodOrder() {
    open("the closed thing").close();
    SYS.close(open("the released thing").release());
  }

  private static LogRecord awaitRecord(BlockingQueue<LogRecord> records)
      throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(OnThread.PATIENCE_SECONDS);
    LogRecord record = null;
    while (record == null && System.nanoTime() < deadline) {
      System.gc();
      record = records.poll(50, TimeUnit.MILLISECONDS);
    }
    return assertPresent(record);
  }

  private static LogRecord assertPresent(@Nullable LogRecord record) {
    if (record == null) {
      throw new AssertionError("nothing was logged");
    }
    return record;
  }
}
