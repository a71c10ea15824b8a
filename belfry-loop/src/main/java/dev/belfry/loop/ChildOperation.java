package dev.belfry.loop;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.ExitStatus;
import dev.belfry.linux.PidFd;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Waits for a child process to end. Created by {@link EventLoop#child}. It holds a descriptor of
 * its own while in flight, and may be started again, even after the child has ended.
 *
 * @param <T> the type of the child's exit status
 */
public final class ChildOperation<T> extends Operation<T> {
  private final Child<T> child;
  private @Nullable ExitWatch<T> watch;
  private @Nullable T status;

  private ChildOperation(EventLoop loop, Child<T> child) {
    super(loop);
    this.child = child;
  }

  static ChildOperation<Integer> of(EventLoop loop, Process process) {
    return new ChildOperation<>(loop, new Child.OfJava(process));
  }

  static ChildOperation<ExitStatus> of(EventLoop loop, PidFd process) {
    return new ChildOperation<>(loop, new Child.OfOurs(process));
  }

  @Override
  void launch() {
    try {
      watch = new ExitWatch<>(loop, child.open(loop.sharedSys), child);
    } catch (ErrnoException e) {
      completeError(e);
      return;
    }
    watch.start(this::watchEnded);
  }

  @Override
  void withdraw() {
    Objects.requireNonNull(watch).cancel();
  }

  private void watchEnded(Operation<? extends T> ended) {
    Objects.requireNonNull(watch).handle.close();
    watch = null;
    Throwable error = ended.error();
    if (ended.hasValue()) {
      status = ended.value();
      completeValue();
    } else if (error != null) {
      completeError(error);
    } else {
      completeStopped();
    }
  }

  @Override
  T value() {
    return Objects.requireNonNull(status);
  }

  @Override
  public String toString() {
    return "wait for the end of " + child;
  }
}
