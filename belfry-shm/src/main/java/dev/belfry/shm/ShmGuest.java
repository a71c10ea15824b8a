package dev.belfry.shm;

import dev.belfry.linux.FdFlags;
import dev.belfry.linux.Futex;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A guest: one process, or one part of it, that talks to the host of a segment. It attaches with
 * the ticket that the host has passed on its command line, or walks in by the path of the segment.
 *
 * {@snippet :
 * try (ShmGuest guest = ShmGuest.attach(Sys.forAnyThread(), args, WaitStrategy.ADAPTIVE)) {
 *   var message = new Message();
 *   while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
 *     guest.sendBlocking(MessageKind.RESPONSE, message.id(), 0,
 *         message.bytes(), 0, message.length(), FutexWait.FOREVER);
 *   }
 * }
 * }
 *
 * <p>Safe for any number of threads. When the host has left, is gone or has evicted this guest,
 * what it sent before can still be received. After that every call returns {@code OVER}, and {@link
 * #end} says why. A guest with a ticket dies with its host: the kernel kills it, or, if another
 * process stands between the two, the hang-up of its doorbell does. A guest that has walked in sees
 * within half a second that its host is gone, if that was one of ours.
 */
// r[impl shm.topology.hub]
public final class ShmGuest extends Messenger implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ShmGuest.class.getName());
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  /** Longer than any thread that can run takes to leave a call that is over. */
  private static final Duration QUIET_LIMIT = Duration.ofSeconds(1);

  private final Segment segment;
  private final @Nullable Doorbell bell;
  private final Lifeline lifeline;
  private final GuestLife life;

  /** Completes when the lifeline has let go, which needs the bell and the segment until then. */
  private final CompletableFuture<Void> letGo = new CompletableFuture<>();

  private volatile boolean detached;
  private volatile @Nullable ProtocolViolation violation;

  private ShmGuest(
      Segment segment,
      Exchange exchange,
      @Nullable Doorbell bell,
      Lifeline lifeline,
      GuestLife life) {
    super(exchange);
    this.segment = segment;
    this.bell = bell;
    this.lifeline = lifeline;
    this.life = life;
  }

  /** Why a guest can no longer send or wait. */
  public enum End {
    /** It has detached. */
    DETACHED,
    /** The host has said goodbye. */
    HOST_GOODBYE,
    /** The host's process is gone. */
    HOST_GONE,
    /** The host has given this guest's entry up, and will reuse it. */
    EVICTED,
    /** The host has written what a correct one cannot. */
    VIOLATION
  }

  /**
   * Attaches with the ticket among this program's arguments.
   *
   * @throws TicketException if there is none
   * @throws SegmentException if the segment or the entry cannot be used
   */
  public static ShmGuest attach(Sys sys, String[] arguments, WaitStrategy strategy)
      throws IOException {
    return attach(sys, SpawnArguments.parse(arguments), strategy);
  }

  /** Attaches with a ticket. */
  // r[impl shm.spawn.guest-init]
  public static ShmGuest attach(Sys sys, SpawnArguments ticket, WaitStrategy strategy)
      throws IOException {
    Lifeline lifeline = Lifeline.get(sys);
    lifeline.dieWithParent();
    Doorbell bell = Doorbell.adopt(sys, ticket.doorbell());
    Segment segment = null;
    GuestLife life = null;
    try {
      // From here on the kernel kills us with the host; if it was gone before, its end is closed.
      life = GuestLife.checkHost(sys, bell);
      segment = Segment.attach(sys, ticket.hubPath());
      keepToOurselves(sys, ticket);
      checkPeer(segment, ticket);
      life.hold(segment, ticket.peerId());
      lifeline.add(life);
      Link link = Link.claim(segment, ticket.peerId(), strategy, bell);
      life.attached(link);
      bell.announce();
      Futex.linkWake(sys); // the host does not wait yet, as it will when we first answer
      return new ShmGuest(
          segment, new Exchange(link, sleepAt(segment, strategy, bell)), bell, lifeline, life);
    } catch (IOException | RuntimeException e) {
      if (life != null) {
        letGo(lifeline, life, e);
      }
      if (segment != null) {
        segment.close();
      }
      bell.close();
      throw e;
    }
  }

  /** After a failure, which is the one to tell of. */
  private static void letGo(Lifeline lifeline, GuestLife life, Exception failure) {
    try {
      lifeline.remove(life);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** The segment, if it was inherited, is not for programs that this one starts. */
  private static void keepToOurselves(Sys sys, SpawnArguments ticket) throws IOException {
    OptionalInt inherited = ticket.inheritedSegment();
    if (inherited.isPresent()) {
      FdFlags.setCloseOnExec(sys, inherited.getAsInt(), true);
    }
  }

  /**
   * In format 1 a host of another make may ring without waking a futex; so we sleep at the bell.
   */
  private static @Nullable Doorbell sleepAt(Segment segment, WaitStrategy strategy, Doorbell bell) {
    boolean sleeps = strategy == WaitStrategy.ADAPTIVE || strategy == WaitStrategy.SLEEP;
    return sleeps && !segment.layout().isPadded() ? bell : null;
  }

  private static void checkPeer(Segment segment, SpawnArguments ticket) throws TicketException {
    if (ticket.peerId() > segment.config().maxGuests()) {
      throw new TicketException(
          TicketException.Reason.INVALID_PEER_ID,
          "peer id %d: %s has entries for %d guests"
              .formatted(ticket.peerId(), segment, segment.config().maxGuests()));
    }
  }

  /**
   * Attaches to the first free entry of a segment, without a doorbell.
   *
   * @throws SegmentException if the segment cannot be used, or its host is known to be gone
   */
  public static ShmGuest walkIn(Sys sys, Path path, WaitStrategy strategy) throws IOException {
    Lifeline lifeline = Lifeline.get(sys);
    Segment segment = Segment.attach(sys, path);
    Link link = null;
    try {
      segment.checkHostThere();
      link = Link.walkIn(segment, strategy);
      var life = new GuestLife(sys, null);
      life.hold(segment, link.peer());
      life.attached(link);
      lifeline.add(life);
      return new ShmGuest(segment, new Exchange(link, null), null, lifeline, life);
    } catch (IOException | RuntimeException e) {
      if (link != null) {
        leave(link, e);
      }
      segment.close();
      throw e;
    }
  }

  /** After a failure, which is the one to tell of. */
  private static void leave(Link link, Exception failure) {
    try {
      link.leave(System.nanoTime());
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** The number of this guest's entry. */
  public int peerId() {
    return exchange().link().peer();
  }

  /** The segment. */
  public Segment segment() {
    return segment;
  }

  /**
   * Waits for a message and hands it to a handler, which can have its bytes copied to where they
   * are wanted. While that runs no other thread receives.
   *
   * @param scratch holds the message
   * @throws ProtocolViolation if the host has written what a correct one cannot
   */
  public Awaited receiveBlocking(Inbox.Handler handler, Message scratch, long deadlineNanos) {
    try {
      return exchange().receiving().receiveBlocking(handler, scratch, deadlineNanos);
    } catch (ProtocolViolation e) {
      violated(e);
      throw e;
    } catch (InternalError late) {
      throw lost(late);
    }
  }

  /** This guest stops. */
  @Override
  void violated(ProtocolViolation found) {
    violation = found;
    exchange().link().close();
  }

  /** Why nothing more can be sent; empty as long as it can. */
  public Optional<End> end() {
    if (violation != null) {
      return Optional.of(End.VIOLATION);
    }
    if (detached) {
      return Optional.of(End.DETACHED);
    }
    if (segment.isHostGone()) {
      return Optional.of(End.HOST_GOODBYE);
    }
    if (life.isHostGone()) {
      return Optional.of(End.HOST_GONE);
    }
    return exchange().link().isOver() ? Optional.of(End.EVICTED) : Optional.empty();
  }

  /**
   * Leaves: waits until the host has read what was sent, at most this long, and says goodbye.
   * Threads that wait in a call get {@code OVER}. What the host had sent can still be received, but
   * not by a guest that has walked in, whose entry may already belong to another. If another thread
   * is detaching, waits for that, also at most this long.
   */
  // r[impl shm.guest.detach]
  public void detach(Duration atMost) throws IOException {
    if (!isFirstToDetach()) {
      awaitLetGo(atMost);
      return;
    }
    long deadline = life.isHostGone() ? System.nanoTime() : Deadlines.after(atMost);
    try {
      if (bell == null) {
        exchange().sending().closeWhenRead(deadline);
      } else {
        exchange().sending().leave(deadline);
      }
    } catch (ProtocolViolation e) {
      violated(e); // it leaves all the same
    } finally {
      if (bell == null) {
        letGoWhenQuiet();
      } else {
        letGo();
      }
    }
  }

  /**
   * Of a guest that has walked in, the host sees only that it has left, and so makes its entry
   * ready for the next at once, though this process goes on. So no thread of ours may still use the
   * entry when it leaves.
   */
  private void letGoWhenQuiet() throws IOException {
    if (exchange().endWhenQuiet(Deadlines.after(QUIET_LIMIT))) {
      sayGoodbye();
    } else {
      // Whoever is there may be a coroutine of the loop that we are holding up.
      Thread.ofPlatform().daemon().name("belfry-leaving").start(this::sayGoodbyeWhenQuiet);
    }
  }

  private void sayGoodbyeWhenQuiet() {
    exchange().endWhenQuiet(Deadlines.FOREVER);
    try {
      sayGoodbye();
    } catch (IOException | ShmException e) {
      LOG.log(Level.WARNING, "cannot leave " + segment, e);
    }
  }

  private void sayGoodbye() throws IOException {
    try {
      exchange().link().sayGoodbye();
    } finally {
      letGo();
    }
  }

  private synchronized boolean isFirstToDetach() {
    boolean first = !detached;
    detached = true;
    return first;
  }

  private void awaitLetGo(Duration atMost) {
    try {
      letGo.get(Deadlines.restNanos(Deadlines.after(atMost)), TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.log(Level.DEBUG, "another thread is still detaching", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** Gives the mutex back, which by now nobody takes for a death. */
  private void letGo() throws IOException {
    try {
      lifeline.remove(life);
    } finally {
      if (bell != null) {
        bell.announce();
      }
      letGo.complete(null);
    }
  }

  /**
   * Detaches within a second, and ends the use of the segment. If another thread is detaching and
   * takes longer, that thread ends it.
   */
  @Override
  public void close() throws IOException {
    try {
      detach(CLOSE_LIMIT);
    } finally {
      // Not before: a bell that is closed under the lifeline looks like the end of the host.
      var _ = letGo.thenRun(this::release);
    }
  }

  private void release() {
    if (bell != null) {
      bell.close();
    }
    try {
      segment.close();
    } catch (IOException e) {
      LOG.log(Level.WARNING, "cannot close " + segment, e);
    }
  }
}
