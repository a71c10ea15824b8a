package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Sys;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Waits until the descriptor of a child reports its end, and gets its exit status. */
final class ExitWatch<T> extends IoOperation<T> {
  private final Child<T> child;
  private @Nullable T status;

  /** Whether a first attempt was made. */
  private boolean asked;

  ExitWatch(EventLoop loop, Fd fd, Child<T> child) {
    super(new ChildHandle(loop, fd));
    this.child = child;
  }

  private static final class ChildHandle extends Handle {
    ChildHandle(EventLoop loop, Fd fd) {
      super(loop, fd);
    }
  }

  @Override
  boolean isRead() {
    return true;
  }

  @Override
  long attempt(Sys sys) {
    try {
      status = child.status().orElse(null);
    } catch (ErrnoException e) {
      return -e.errno();
    }
    if (status != null) {
      return 0;
    }
    // If the event has come, or none will come, the thread that reaps the child is about to do so.
    boolean eventCame = asked;
    asked = true;
    return eventCame || child.isGone() ? LATER : -EAGAIN;
  }

  @Override
  boolean accept(long result) {
    return true;
  }

  @Override
  String call() {
    return "waitid";
  }

  @Override
  T value() {
    return Objects.requireNonNull(status);
  }
}
