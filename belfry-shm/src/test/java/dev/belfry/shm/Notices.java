package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.ExitStatus;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records the notices about a guest in order, and the threads that delivered them. */
final class Notices implements PeerListener, MessageHandler {
  private final BlockingQueue<String> told = new LinkedBlockingQueue<>();
  private final List<String> all = new CopyOnWriteArrayList<>();
  private final List<Thread> threads = new CopyOnWriteArrayList<>();

  @Override
  public void onAttached(Peer peer) {
    note("attached");
  }

  @Override
  public void onDying(Peer peer, Witness witness) {
    note("dying " + witness);
  }

  @Override
  public void onGone(Peer peer, @Nullable ExitStatus status) {
    note("gone " + status);
  }

  @Override
  public void onStuck(Peer peer) {
    note("stuck");
  }

  @Override
  public void onMessage(Peer peer, Message message) {
    byte[] expected = Sides.payload(message.length(), (int) message.id());
    String bytes = Arrays.equals(message.toByteArray(), expected) ? "" : " wrong";
    note("message " + message.id() + " " + message.length() + bytes);
  }

  private void note(String notice) {
    threads.add(Thread.currentThread());
    all.add(notice);
    told.add(notice);
  }

  /** Waits for the next notice. */
  String next() throws InterruptedException {
    String notice = told.poll(60, TimeUnit.SECONDS);
    if (notice == null) {
      throw new AssertionError("nothing more is told after " + all);
    }
    return notice;
  }

  /** Waits for the next notice other than one that may come any number of times. */
  String nextOtherThan(String notice) throws InterruptedException {
    String next = next();
    while (next.equals(notice)) {
      next = next();
    }
    return next;
  }

  /** Whether no notice arrives for a while. */
  boolean nothingFor(Duration duration) throws InterruptedException {
    return told.poll(duration.toNanos(), TimeUnit.NANOSECONDS) == null;
  }

  /** Expects the first sign of a death, whichever witness was first. */
  void expectDying() throws Exception {
    assertThat(next()).isIn("dying MUTEX", "dying DOORBELL", "dying PROCESS");
  }

  /** All notices so far. */
  List<String> all() {
    return all;
  }

  List<Thread> threads() {
    return threads;
  }

  /** The options of a guest whose notices and messages are recorded here. */
  PeerOptions options() {
    return PeerOptions.DEFAULT.withListener(this).withHandler(this);
  }
}
