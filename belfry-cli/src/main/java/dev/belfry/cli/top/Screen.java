package dev.belfry.cli.top;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.belfry.cli.ThreadDump;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Io;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import java.io.PrintWriter;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Takes over the terminal: alternate screen, no cursor, key-by-key input. However the program ends,
 * except by SIGKILL, the terminal is restored.
 */
final class Screen implements AutoCloseable {
  private static final int STDIN = 0;
  private static final int STDOUT = 1;
  private static final String ENTER = "\033[?1049h\033[?25l\033[?7l";
  private static final String LEAVE = "\033[0m\033[?7h\033[?25h\033[?1049l";
  private static final String HOME = "\033[H";
  private static final String ERASE_LINE = "\033[2K";
  private static final String ERASE_BELOW = "\033[J";

  /** For a terminal that does not know its size. */
  private static final Terminal.Size USUAL = new Terminal.Size(80, 24);

  /** How often to check for a new size. */
  private static final Duration LOOK = Duration.ofMillis(100);

  /** How long to wait, on leaving, for a terminal that takes no output. */
  private static final long CLOSE_MILLIS = 500;

  private final Sys sys;
  private final PrintWriter out;
  private final boolean hasKeys;
  private final Thread hook = Thread.ofPlatform().unstarted(this::leave);
  private final PollSet poll;

  /** Held while writing, so that nothing is drawn after the terminal is restored. */
  private final ReentrantLock writing = new ReentrantLock();

  /** The mode to restore. Like the next field, read without the lock if taking it times out. */
  private volatile @Nullable Terminal keys;

  private volatile boolean left;

  private Screen(Sys sys, PrintWriter out) {
    this.sys = sys;
    this.out = out;
    this.poll = new PollSet(sys, 1);
    this.hasKeys = size(sys, STDIN) != null;
    poll.set(0, hasKeys ? STDIN : -1, PollSet.IN);
  }

  /** Returns the size of the terminal on standard output, or null if it is not a terminal. */
  static Terminal.@Nullable Size size(Sys sys) {
    return size(sys, STDOUT);
  }

  private static Terminal.@Nullable Size size(Sys sys, int fd) {
    try {
      Terminal.Size size = Terminal.size(sys, fd);
      return size != null && (size.columns() == 0 || size.rows() == 0) ? USUAL : size;
    } catch (ErrnoException closed) {
      return null;
    }
  }

  /** Takes over the terminal. */
  static Screen enter(Sys sys, PrintWriter out) throws ErrnoException {
    var screen = new Screen(sys, out);
    screen.writing.lock(); // the hook then waits, and restores what was changed
    try {
      Runtime.getRuntime().addShutdownHook(screen.hook);
      ThreadDump.beforeHalt(screen::leave);
      screen.keys = screen.hasKeys ? Terminal.keyByKey(sys, STDIN) : null;
      out.print(ENTER);
      out.flush();
    } finally {
      screen.writing.unlock();
    }
    return screen;
  }

  /** Returns the current size. */
  Terminal.Size size() {
    Terminal.Size size = size(sys);
    return size == null ? USUAL : size;
  }

  /** Replaces the screen's content with these lines. */
  void draw(List<String> lines) {
    String text = HOME + ERASE_LINE + String.join("\n" + ERASE_LINE, lines) + ERASE_BELOW;
    writing.lock();
    try {
      if (!left) {
        out.print(text);
        out.flush();
      }
    } finally {
      writing.unlock();
    }
  }

  /** Waits for a key, a new terminal size or the time limit; returns 0 if there was no key. */
  int awaitKey(Terminal.Size size, Duration limit) {
    long deadline = System.nanoTime() + limit.toNanos();
    while (true) {
      long now = System.nanoTime();
      if (poll.await(Math.min(deadline, now + LOOK.toNanos())) > 0) {
        return readKey();
      }
      if (deadline - System.nanoTime() <= 0 || !size().equals(size)) {
        return 0;
      }
    }
  }

  private int readKey() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment key = arena.allocate(1);
      if (Io.read(sys, STDIN, key) == 1) {
        return key.get(JAVA_BYTE, 0);
      }
      poll.set(0, -1, 0); // the terminal is gone: no more keys will come
      return 0;
    }
  }

  private void leave() {
    boolean mine = false;
    try {
      mine = writing.tryLock(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      if (left) {
        return;
      }
      left = true;
      Terminal before = keys;
      if (before != null) {
        before.restore();
      }
      if (mine && takesOutput()) {
        out.print(LEAVE);
        out.flush();
      }
    } catch (ErrnoException gone) {
      // The terminal is gone: there is nothing to restore.
    } finally {
      if (mine) {
        writing.unlock();
      }
    }
  }

  private boolean takesOutput() {
    var room = new PollSet(sys, 1);
    room.set(0, STDOUT, PollSet.OUT);
    return room.await(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS)) > 0;
  }

  /** Restores the terminal. A second call has no effect. */
  @Override
  public void close() {
    leave();
    ThreadDump.beforeHalt(() -> {});
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException ending) {
      // The hook is running, and will find nothing to do.
    }
  }
}
