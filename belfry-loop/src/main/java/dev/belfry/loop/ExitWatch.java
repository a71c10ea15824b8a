package dev.belfry.loop;

import static dev.belfry.linux.Errno.EAGAIN;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Sys;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Waits until the descriptor of a child tells that it has ended, and asks how. */
final class ExitWatch<T> extends IoOperation<T> {
  private final Child<T> child;
  private @Nullable T status;

  /** Whether it has waited for an event. */
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
    // If an event has come already, or none will, then whoever reaps the child is about to do so.
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
