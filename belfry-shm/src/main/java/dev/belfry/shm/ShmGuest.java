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
 * A guest: a process, or a part of one, that exchanges messages with the host of a segment. It
 * attaches with the ticket that the host put on its command line, or walks in through the path of
 * the segment.
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
 * <p>Safe for use by any number of threads. After the host has left, died or evicted this guest,
 * messages it sent earlier can still be received; then every call returns {@code OVER}, and {@link
 * #end} gives the reason. A guest with a ticket dies with its host: the kernel kills it, or, if
 * another process stands between host and guest, the hang-up of its doorbell ends it. A guest that
 * walked in notices the death of its host within half a second, provided that the host is a Belfry
 * host.
 */
// r[impl shm.topology.hub]
public final class ShmGuest extends Messenger implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ShmGuest.class.getName());
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(1);

  /** Longer than any runnable thread needs to leave a call once the link is over. */
  private static final Duration QUIET_LIMIT = Duration.ofSeconds(1);

  private final Segment segment;
  private final @Nullable Doorbell bell;
  private final Lifeline lifeline;
  private final GuestLife life;

  /** Completes when the lifeline has let go; until then it needs the bell and the segment. */
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
    /** The guest has detached. */
    DETACHED,
    /** The host has said goodbye. */
    HOST_GOODBYE,
    /** The host's process has died. */
    HOST_GONE,
    /** The host has given up this guest's entry and will reuse it. */
    EVICTED,
    /** The host has violated the protocol. */
    VIOLATION
  }

  /**
   * Attaches with the ticket found among the arguments of this program.
   *
   * @throws TicketException if there is no valid ticket
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
    var life = new GuestLife(sys, bell);
    Segment segment = null;
    try {
      segment = Segment.attach(sys, ticket.hubPath());
      keepToOurselves(sys, ticket);
      checkPeer(segment, ticket);
      // By now the kernel kills us with the host. If the host died earlier, its end of the bell is
      // closed, and this check finds that.
      GuestLife.checkHost(bell);
      return claim(segment, ticket.peerId(), strategy, bell, lifeline, life);
    } catch (IOException | RuntimeException e) {
      letGo(lifeline, life, e);
      if (segment != null) {
        segment.close();
      }
      bell.close();
      throw e;
    }
  }

  private static ShmGuest claim(
      Segment segment,
      int peer,
      WaitStrategy strategy,
      Doorbell bell,
      Lifeline lifeline,
      GuestLife life)
      throws IOException {
    try {
      life.hold(segment, peer);
      lifeline.add(life);
      Link link = Link.claim(segment, peer, strategy, bell);
      life.attached(link);
      bell.announce();
      Futex.linkWake(segment.sys()); // link now: the host will wait for our first answer
      return new ShmGuest(
          segment, new Exchange(link, sleepAt(segment, strategy, bell)), bell, lifeline, life);
    } catch (InternalError late) {
      throw segment.lost(late);
    }
  }

  /** Lets go after a failure; a second failure is suppressed. */
  private static void letGo(Lifeline lifeline, GuestLife life, Exception failure) {
    try {
      lifeline.remove(life);
    } catch (IOException | RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /**
   * Sets close-on-exec on an inherited segment, so that programs started by this one do not get it.
   */
  private static void keepToOurselves(Sys sys, SpawnArguments ticket) throws IOException {
    OptionalInt inherited = ticket.inheritedSegment();
    if (inherited.isPresent()) {
      FdFlags.setCloseOnExec(sys, inherited.getAsInt(), true);
    }
  }

  /**
   * The bell to sleep on, or null to sleep on a futex. In format 1 a foreign host may ring the bell
   * without waking a futex, so a sleeper has to wait on the bell.
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
   * Walks in: attaches to the first free entry of a segment, without a doorbell.
   *
   * @throws SegmentException if the segment cannot be used, or its host is known to have died
   */
  public static ShmGuest walkIn(Sys sys, Path path, WaitStrategy strategy) throws IOException {
    Lifeline lifeline = Lifeline.get(sys);
    var life = new GuestLife(sys, null);
    Segment segment = Segment.attach(sys, path);
    Link link = null;
    try {
      segment.checkHostThere();
      link = Link.walkIn(segment, strategy);
      return enter(segment, link, lifeline, life);
    } catch (IOException | RuntimeException e) {
      if (link != null) {
        leave(link, e);
      }
      letGo(lifeline, life, e);
      segment.close();
      throw e;
    }
  }

  private static ShmGuest enter(Segment segment, Link link, Lifeline lifeline, GuestLife life)
      throws IOException {
    try {
      life.hold(segment, link.peer());
      life.attached(link);
      lifeline.add(life);
      return new ShmGuest(segment, new Exchange(link, null), null, lifeline, life);
    } catch (InternalError late) {
      throw segment.lost(late);
    }
  }

  /** Leaves after a failure; a second failure is suppressed. */
  private static void leave(Link link, Exception failure) {
    try {
      link.leave(System.nanoTime());
    } catch (RuntimeException e) {
      failure.addSuppressed(e);
    }
  }

  /** The number of this guest's entry, 1 to 255. */
  public int peerId() {
    return exchange().link().peer();
  }

  /** The segment. */
  public Segment segment() {
    return segment;
  }

  /**
   * Waits for a message and passes it to a handler, which may copy its bytes straight to their
   * destination. No other thread receives while the handler runs.
   *
   * @param scratch holds the message
   * @throws ProtocolViolation if the host has violated the protocol
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

  /** Closes the link for good. */
  @Override
  void violated(ProtocolViolation found) {
    violation = found;
    exchange().link().close();
  }

  /** The reason why nothing more can be sent; empty as long as sending is possible. */
  public Optional<End> end() {
    if (violation != null) {
      return Optional.of(End.VIOLATION);
    }
    if (detached) {
      return Optional.of(End.DETACHED);
    }
    if (segment.hasHostLeft()) {
      return Optional.of(End.HOST_GOODBYE);
    }
    if (life.isHostGone()) {
      return Optional.of(End.HOST_GONE);
    }
    return exchange().link().isOver() ? Optional.of(End.EVICTED) : Optional.empty();
  }

  /**
   * Leaves the segment: waits until the host has read what was sent, at most for the given time,
   * and says goodbye. Calls that are blocked return {@code OVER}. Messages that the host has sent
   * can still be received, except by a guest that walked in, whose entry may be reused at once. If
   * another thread is already detaching, waits for that thread, for the same time at most.
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
      violated(e); // detach regardless
    } finally {
      if (bell == null) {
        letGoWhenQuiet();
      } else {
        letGo();
      }
    }
  }

  /**
   * Detaches a guest that walked in. Its host sees only that it has left, and recycles the entry at
   * once, although this process lives on. So no thread of ours may still use the entry when we
   * leave.
   */
  private void letGoWhenQuiet() throws IOException {
    if (exchange().endWhenQuiet(Deadlines.after(QUIET_LIMIT))) {
      sayGoodbye();
    } else {
      // The thread in the way may be a coroutine of the very loop that we are blocking.
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

  /** Releases the mutex. The guest has left by now, so the host does not take this for a death. */
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
   * Detaches within a second, then closes the segment. If another thread is detaching and takes
   * longer, that thread closes it.
   */
  @Override
  public void close() throws IOException {
    try {
      detach(CLOSE_LIMIT);
    } finally {
      // Not earlier: to the lifeline, a bell closed under it looks like the death of the host.
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
