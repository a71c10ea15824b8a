package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static dev.belfry.linux.Errno.EBUSY;
import static dev.belfry.linux.Errno.EOWNERDEAD;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.function.IntSupplier;

/**
 * A mutex in shared memory that the kernel releases if its owner dies ({@code
 * pthread_mutexattr_setrobust(3)}). The owner is the thread that locked it, not the process: lock
 * it on a platform thread that lives as long as the mutex is to be held.
 *
 * <p>Its first four bytes are a futex word: the owner's thread id and the flags below. A thread
 * that only watches for the owner's death sets {@link #WAITERS} and sleeps on that word.
 */
public final class RobustMutex {
  /** Set in the word by the kernel when the owner has died. */
  public static final int OWNER_DIED = 0x4000_0000;

  /** Set in the word by a thread that sleeps on it, so that the kernel wakes a sleeper. */
  public static final int WAITERS = 0x8000_0000;

  /** The part of the word that holds the owner's thread id; zero if there is no owner. */
  public static final int OWNER_MASK = 0x3fff_ffff;

  private static final int PTHREAD_PROCESS_SHARED = 1;
  private static final int PTHREAD_MUTEX_ROBUST = 1;

  /** {@code pthread_mutexattr_t} has 4 bytes on x86-64 and 8 on aarch64. */
  private static final long ATTRIBUTE_BYTES = 8;

  private final Sys sys;
  private final MemorySegment mutex;

  /** A mutex in shared memory, {@link #bytes} long, initialised or not. */
  public RobustMutex(Sys sys, MemorySegment mutex) {
    if (mutex.byteSize() < bytes()) {
      throw new IllegalArgumentException(
          "a mutex needs %d bytes, not %d".formatted(bytes(), mutex.byteSize()));
    }
    this.sys = sys;
    this.mutex = mutex;
  }

  /** The outcome of an attempt to lock. */
  public enum Locked {
    /** Locked, after a regular unlock. */
    IN_ORDER,
    /** Locked, because the owner died; see {@link #makeConsistent}. */
    AFTER_DEATH,
    /** Not locked: another thread holds it. */
    NO
  }

  /** The size of a {@code pthread_mutex_t}. */
  public static long bytes() {
    return bytes(Arch.current());
  }

  static long bytes(Arch arch) {
    return switch (arch) {
      case X86_64 -> 40;
      case AARCH64 -> 48;
    };
  }

  /** Initialises the memory as an unlocked mutex, whatever it was before. */
  public void initialise() throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment attributes = arena.allocate(ATTRIBUTE_BYTES, Long.BYTES);
      check("pthread_mutexattr_init", () -> sys.pthreadMutexattrInit(attributes));
      try {
        check(
            "pthread_mutexattr_setpshared",
            () -> sys.pthreadMutexattrSetpshared(attributes, PTHREAD_PROCESS_SHARED));
        check(
            "pthread_mutexattr_setrobust",
            () -> sys.pthreadMutexattrSetrobust(attributes, PTHREAD_MUTEX_ROBUST));
        check("pthread_mutex_init", () -> sys.pthreadMutexInit(mutex, attributes));
      } finally {
        sys.pthreadMutexattrDestroy(attributes);
      }
    }
  }

  /** Waits until the mutex is ours. Blocks the thread in the kernel: not for virtual threads. */
  public Locked lock() throws ErrnoException {
    return locked("pthread_mutex_lock", sys.pthreadMutexLock(mutex));
  }

  /** Locks the mutex if it is free. */
  public Locked tryLock() throws ErrnoException {
    return locked("pthread_mutex_trylock", sys.pthreadMutexTrylock(mutex));
  }

  /** After {@link Locked#AFTER_DEATH}: declares that the protected state is consistent again. */
  public void makeConsistent() throws ErrnoException {
    check("pthread_mutex_consistent", () -> sys.pthreadMutexConsistent(mutex));
  }

  /** Unlocks the mutex; only the thread that locked it may do so. */
  public void unlock() throws ErrnoException {
    check("pthread_mutex_unlock", () -> sys.pthreadMutexUnlock(mutex));
  }

  /** The futex word. */
  public MemorySegment word() {
    return mutex.asSlice(0, Integer.BYTES);
  }

  private static Locked locked(String name, int result) throws ErrnoException {
    return switch (result) {
      case 0 -> Locked.IN_ORDER;
      case -EOWNERDEAD -> Locked.AFTER_DEATH;
      case -EBUSY -> Locked.NO;
      default -> throw new ErrnoException(name, -result, "robust mutex");
    };
  }

  private static void check(String name, IntSupplier attempt) throws ErrnoException {
    call(name, "robust mutex", attempt);
  }
}
