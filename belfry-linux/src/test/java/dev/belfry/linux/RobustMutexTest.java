package dev.belfry.linux;

import static dev.belfry.linux.RobustMutex.Locked.AFTER_DEATH;
import static dev.belfry.linux.RobustMutex.Locked.IN_ORDER;
import static dev.belfry.linux.RobustMutex.Locked.NO;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** With threads of this process; tests that start children cover the death of a process. */
final class RobustMutexTest {
  private static final Sys SYS = Sys.forAnyThread();

  private final Arena arena = Arena.ofShared();
  private RobustMutex mutex;

  @BeforeEach
  void initialise() throws ErrnoException {
    try (Fd file = SharedFile.createAnonymous(SYS, "mutex-test")) {
      SharedFile.truncate(SYS, file.number(), 4096);
      mutex = new RobustMutex(SYS, SharedFile.map(SYS, file.number(), 4096, true, arena));
    }
    mutex.initialise();
  }

  @AfterEach
  void unmap() {
    arena.close();
  }

  private static int thisThread() throws Exception {
    return Integer.parseInt(
        Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString());
  }

  private int word() {
    return mutex.word().get(JAVA_INT, 0);
  }

  @Test
  void theWordNamesTheOwner() throws Exception {
    assertThat(word()).isZero();
    assertThat(mutex.lock()).isEqualTo(IN_ORDER);
    assertThat(word() & RobustMutex.OWNER_MASK).isEqualTo(thisThread());
    mutex.unlock();
    assertThat(word()).isZero();
  }

  @Test
  void whatSomebodyElseHoldsIsNotGiven() throws Exception {
    assertThat(mutex.tryLock()).isEqualTo(IN_ORDER);
    assertThat(OnThread.call(mutex::tryLock).result()).isEqualTo(NO);
    mutex.unlock();
  }

  @Test
  void onlyTheOwnerMayUnlock() throws Exception {
    mutex.lock();
    OnThread<Integer> stranger =
        OnThread.call(
            () -> {
              try {
                mutex.unlock();
                return 0;
              } catch (ErrnoException e) {
                return e.errno();
              }
            });
    assertThat(stranger.result()).isEqualTo(Errno.EPERM);
    mutex.unlock();
  }

  @Test
  void theLockOfAThreadThatDiedGoesToTheNextWhoIsTold() throws Exception {
    lockAndDie();

    assertThat(mutex.lock()).isEqualTo(AFTER_DEATH);
    mutex.makeConsistent();
    mutex.unlock();

    assertThat(mutex.tryLock()).isEqualTo(IN_ORDER);
    mutex.unlock();
  }

  @Test
  void notMadeConsistentItCanNeverBeLockedAgain() throws Exception {
    lockAndDie();
    assertThat(mutex.lock()).isEqualTo(AFTER_DEATH);
    mutex.unlock();

    assertThatThrownBy(mutex::lock)
        .isInstanceOfSatisfying(
            ErrnoException.class,
            e -> {
              assertThat(e.is(Errno.ENOTRECOVERABLE)).isTrue();
              assertThat(e.call()).isEqualTo("pthread_mutex_lock");
            });
    assertThatThrownBy(mutex::tryLock).hasMessageContaining("ENOTRECOVERABLE");

    mutex.initialise();
    assertThat(mutex.tryLock()).as("made new").isEqualTo(IN_ORDER);
    mutex.unlock();
  }

  @Test
  void whoLocksWaitsForTheOwner() throws Exception {
    mutex.lock();
    OnThread<RobustMutex.Locked> next =
        OnThread.call(
            () -> {
              RobustMutex.Locked locked = mutex.lock();
              mutex.unlock();
              return locked;
            });

    mutex.unlock();

    assertThat(next.result()).isEqualTo(IN_ORDER);
  }

  @Test
  void tooLittleMemoryIsRefused() {
    assertThatThrownBy(() -> new RobustMutex(SYS, arena.allocate(RobustMutex.bytes() - 1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(Long.toString(RobustMutex.bytes()));
  }

  /** The thread ends right after; the next lock waits for that in the kernel. */
  private void lockAndDie() throws Exception {
    int owner =
        OnThread.call(
                () -> {
                  mutex.lock();
                  return thisThread();
                })
            .result();
    assertThat(owner).isPositive();
  }
}
