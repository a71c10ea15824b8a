package dev.belfry.loop;

import static java.lang.System.Logger.Level.WARNING;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Sys;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Standard streams that could not be reopened, and are non-blocking for every process that shares
 * them. Several of them may be one open file description, which cannot be found out. So their flags
 * are restored together: when the last stream is closed, or when the program exits.
 */
final class BorrowedFlags {
  /** The streams whose flag we have set. */
  private static final Set<Integer> CHANGED = new TreeSet<>();

  /** The number of streams that need the flags. */
  private static int users;

  private static @Nullable Thread atExit;

  private BorrowedFlags() {}

  /** Makes a stream non-blocking, if it is not already, until it is given back. */
  static synchronized void borrow(Sys sys, int number) throws ErrnoException {
    if (!FdFlags.isNonBlocking(sys, number)) {
      if (atExit == null) {
        var hook = new Thread(() -> putBack(sys), "belfry-restore-streams");
        Runtime.getRuntime().addShutdownHook(hook);
        atExit = hook;
      }
      FdFlags.setNonBlocking(sys, number, true);
      CHANGED.add(number);
    }
    users++;
  }

  /** A borrowed stream is no longer needed. */
  static synchronized void giveBack(Sys sys) {
    if (--users == 0) {
      putBack(sys);
    }
  }

  private static synchronized void putBack(Sys sys) {
    for (int number : CHANGED) {
      try {
        FdFlags.setNonBlocking(sys, number, false);
      } catch (ErrnoException e) {
        System.getLogger(StandardStream.class.getName())
            .log(WARNING, "standard stream " + number + " stays non-blocking", e);
      }
    }
    CHANGED.clear();
  }
}
