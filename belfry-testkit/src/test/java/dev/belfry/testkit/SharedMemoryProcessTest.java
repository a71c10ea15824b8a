package dev.belfry.testkit;

import static dev.belfry.linux.RobustMutex.Locked.AFTER_DEATH;
import static dev.belfry.linux.RobustMutex.Locked.IN_ORDER;
import static dev.belfry.linux.RobustMutex.Locked.NO;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Futex;
import dev.belfry.linux.FutexSet;
import dev.belfry.linux.Io;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One page shared with a C program: futexes, and mutexes whose owner is killed. */
final class SharedMemoryProcessTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final VarHandle WORD = JAVA_INT.varHandle();

  @TempDir static Path directory;
  private static String sharer;

  private final Arena arena = Arena.ofShared();
  private Fd file;
  private MemorySegment page;
  private Pipe output;

  @BeforeAll
  static void compile() throws Exception {
    sharer = CProgram.compile(directory, SharedMemoryProcessTest.class, "sharer").toString();
  }

  @BeforeEach
  void open() throws IOException {
    file = SharedFile.createAnonymous(SYS, "shared-page");
    SharedFile.truncate(SYS, file.number(), 4096);
    page = SharedFile.map(SYS, file.number(), 4096, true, arena);
    output = Pipe.open(SYS, true);
  }

  @AfterEach
  void close() {
    output.reader().close();
    output.writer().close();
    file.close();
    arena.close();
  }

  private PidFd start(String what) throws IOException {
    return Spawn.command(sharer, what)
        .standard(1, output.writer().number())
        .pass(file.number())
        .start(SYS);
  }

  /** The next line that the child prints. */
  private String line() {
    var line = new StringBuilder();
    MemorySegment one = arena.allocate(1);
    while (Io.read(SYS, output.reader().number(), one) == 1) {
      char next = (char) one.get(JAVA_BYTE, 0);
      if (next == '\n') {
        return line.toString();
      }
      line.append(next);
    }
    throw new AssertionError("the child said only: " + line);
  }

  private int word() {
    return (int) WORD.getAcquire(page, 0L);
  }

  private RobustMutex mutexHeldBy(PidFd child) {
    assertThat(line()).isEqualTo("locked 0 by " + child.pid());
    var mutex = new RobustMutex(SYS, page);
    assertThat(mutex.word().get(JAVA_INT, 0) & RobustMutex.OWNER_MASK).isEqualTo(child.pid());
    return mutex;
  }

  @Test
  void aProcessThatSleepsIsWoken() throws Exception {
    page.set(JAVA_INT, 0, 5);
    try (PidFd child = start("sleep")) {
      long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
      while (Futex.wake(SYS, page.asSlice(0, 4), 1) == 0 && System.nanoTime() < deadline) {
        Thread.onSpinWait(); // it is not asleep yet
      }
      assertThat(line()).isEqualTo("woken 0");
      assertThat(child.awaitExit().shellCode()).isZero();
    }
  }

  @Test
  void aProcessWakesUs() throws Exception {
    try (PidFd child = start("wake")) {
      long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
      assertThat(new Futex(SYS).await(page.asSlice(0, 4), 0, deadline)).isZero();
      assertThat(line()).isEqualTo("woke 1");
      assertThat(child.awaitExit().shellCode()).isZero();
    }
  }

  @Test
  void aProcessWakesUsFromAmongManyWords() throws Exception {
    var set = new FutexSet(SYS, 3);
    set.set(0, page.asSlice(128, 4), 0);
    set.set(1, page.asSlice(256, 4), 0);
    set.set(2, page.asSlice(0, 4), 0);
    try (PidFd child = start("wake")) {
      long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
      assertThat(set.await(3, deadline)).isEqualTo(2);
      assertThat(child.awaitExit().shellCode()).isZero();
    }
  }

  @Test
  void theMutexOfAKilledProcessGoesToTheNextWhoIsTold() throws Exception {
    new RobustMutex(SYS, page).initialise();
    try (PidFd child = start("lock")) {
      RobustMutex mutex = mutexHeldBy(child);
      assertThat(mutex.tryLock()).isEqualTo(NO);

      child.sendSignal(Signo.KILL);

      assertThat(mutex.lock()).isEqualTo(AFTER_DEATH);
      mutex.makeConsistent();
      mutex.unlock();
      assertThat(mutex.tryLock()).isEqualTo(IN_ORDER);
      mutex.unlock();
      assertThat(child.awaitExit()).isEqualTo(new ExitStatus(true, Signo.KILL, false));
    }
  }

  @Test
  void aProcessThatExitsWithTheMutexIsAsDead() throws Exception {
    new RobustMutex(SYS, page).initialise();
    try (PidFd child = start("lock-and-exit")) {
      child.awaitExit();
      assertThat(new RobustMutex(SYS, page).tryLock()).isEqualTo(AFTER_DEATH);
      new RobustMutex(SYS, page).unlock();
    }
  }

  /**
   * A watcher does not want the lock, only the news: it sets the waiters bit and sleeps on the
   * word.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoSleepsOnTheWordHearsOfTheDeath(boolean asOneOfMany) throws Exception {
    new RobustMutex(SYS, page).initialise();
    try (PidFd child = start("lock")) {
      RobustMutex mutex = mutexHeldBy(child);
      MemorySegment word = mutex.word();
      int expected = child.pid() | RobustMutex.WAITERS;
      assertThat(WORD.compareAndSet(page, 0L, child.pid(), expected)).isTrue();
      child.sendSignal(Signo.KILL);

      long deadline = System.nanoTime() + TestProcess.PATIENCE.toNanos();
      int result;
      if (asOneOfMany) {
        var set = new FutexSet(SYS, 2);
        set.set(0, page.asSlice(1024, 4), 0);
        set.set(1, word, expected);
        result = set.await(2, deadline);
      } else {
        result = new Futex(SYS).await(word, expected, deadline);
      }

      assertThat(result).isIn(asOneOfMany ? 1 : 0, -Errno.EAGAIN); // it may have died already
      assertThat(word() & RobustMutex.OWNER_DIED).isNotZero();
      child.awaitExit();
    }
  }
}
