package dev.belfry.shm;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/**
 * The signs of life of a guest, and its watch over the host. On the thread of the {@link Lifeline}
 * it holds the lock on its entry or has the robust mutex held, writes heartbeats, and notices when
 * the host is gone.
 */
final class GuestLife implements Lifeline.Hold {
  private final Sys sys;
  private final @Nullable Doorbell bell;
  private final int parent;

  // Set before the lifeline sees this.
  private @Nullable Segment segment;
  private @Nullable MemorySegment mutexWord;
  private @Nullable EntryLock lock;
  private long heartbeat;
  private long interval;

  private @Nullable MutexHolder mutex;

  /** Whether the host held its lock when we attached, so that we can see it lose it. */
  private boolean watchesLock;

  private volatile @Nullable Link link;
  private volatile boolean hostGone;

  GuestLife(Sys sys, @Nullable Doorbell bell) {
    this.sys = sys;
    this.bell = bell;
    this.parent = Processes.parent(sys);
  }

  /**
   * Checks that the host is alive, after this process has asked to die with it.
   *
   * @throws SegmentException if it is gone
   */
  static void checkHost(Doorbell bell) throws IOException {
    boolean gone =
        bell.tellsDeath()
            ? bell.poll() == Doorbell.Event.DEATH
            : bell.ring() == Doorbell.Rung.PEER_DEAD;
    if (gone) {
      throw new SegmentException(
          SegmentException.Reason.HOST_GONE, "the host that started this guest is gone");
    }
  }

  void hold(Segment held, int peer) {
    segment = held;
    SegmentLayout layout = held.layout();
    if (layout.isPadded()) {
      mutexWord = held.memory().word(layout.robustMutex(peer));
    } else {
      lock = new EntryLock(held, peer);
    }
    heartbeat = held.memory().address(layout.heartbeat(peer), Long.BYTES);
    interval = held.config().heartbeatIntervalNanos();
  }

  /** Called when the entry is ours; writes the first heartbeat. */
  void attached(Link attached) {
    link = attached;
    beat();
  }

  boolean isHostGone() {
    return hostGone;
  }

  @Override
  public @Nullable Doorbell bell() {
    return hostGone ? null : bell;
  }

  @Override
  public void begin() throws ErrnoException {
    if (mutexWord != null && segment != null) {
      mutex = MutexHolder.hold(segment, mutexWord);
    }
    if (lock != null) {
      lock.take();
    }
    watchesLock = bell == null && segment != null && segment.isHostThere(false);
    beat();
  }

  @Override
  public void end() throws ErrnoException {
    if (mutex != null) {
      mutex.giveBack();
    }
    if (lock != null) {
      lock.giveBack();
    }
  }

  // r[impl shm.crash.heartbeat-clock]
  private void beat() {
    Link ours = link;
    if (interval > 0 && segment != null && ours != null && !ours.isOver()) { // else not ours
      segment.memory().setLongRelease(heartbeat, System.nanoTime());
    }
  }

  @Override
  public long look() {
    beat();
    long next = interval > 0 ? System.nanoTime() + interval / 2 : Deadlines.FOREVER;
    if (bell != null && !bell.tellsDeath() && !hostGone) {
      if (bell.isPeerDead() || Processes.parent(sys) != parent) {
        hungUp();
      }
      next = Deadlines.earlier(next, Lifeline.nextLook());
    }
    if (watchesLock && segment != null && !hostGone) {
      if (!segment.isHostThere(true)) {
        hungUp();
      }
      next = Deadlines.earlier(next, Lifeline.nextLook());
    }
    return next;
  }

  /**
   * Called when the host is gone. The kernel has killed us by now, unless another process stands
   * between host and guest.
   */
  @Override
  public void hungUp() {
    hostGone = true;
    Link ended = link;
    if (ended != null) {
      ended.close();
    }
    if (bell != null && segment != null && !segment.hasHostLeft()) {
      dieAsTheKernelWouldHaveIt();
    }
  }

  private void dieAsTheKernelWouldHaveIt() {
    try {
      Processes.kill(sys, (int) ProcessHandle.current().pid(), Signo.KILL);
    } catch (ErrnoException impossible) {
      throw new AssertionError("a process may always kill itself", impossible);
    }
  }
}
