package dev.belfry.shm;

import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.Operation;
import dev.belfry.loop.TimerOperation;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.UnaryOperator;

/**
 * Owns a segment of shared memory and the guests that use it: starts guests, exchanges messages
 * with them, detects their death at once and reclaims what they held.
 *
 * {@snippet :
 * ShmHost host = ShmHost.create(loop, HostOptions.DEFAULT);
 * SpawnTicket ticket = host.addPeer(PeerOptions.DEFAULT.withName("resizer").withListener(listener));
 * Peer guest = host.spawn(List.of("resizer", "--fast"), ticket);
 * guest.sendBlocking(MessageKind.REQUEST, 1, 0, bytes, 0, bytes.length, deadline);
 * }
 *
 * <p>All methods may be called from any thread. Children are spawned on the loop thread: the kernel
 * delivers the parent-death signal when the spawning <em>thread</em> exits, so that thread must
 * outlive them.
 */
// r[impl shm.topology.hub]
public final class ShmHost implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(ShmHost.class.getName());
  private static final Duration CLOSE_LIMIT = Duration.ofSeconds(5);
  private static final long LOOK_MILLIS = 50;

  /** Descriptor numbers in a spawned child. */
  private static final int CHILD_DOORBELL = 3;

  private static final int CHILD_SEGMENT = 4;

  private final EventLoop loop;
  private final HostOptions options;
  private final Sys sys;
  private final Segment segment;
  private final Rounds rounds;

  private final Roster roster;
  private final CompletableFuture<Void> ended = new CompletableFuture<>();
  private volatile boolean leaving;

  /** Fires when a leaving host stops waiting for its guests. */
  private final TimerOperation patience;

  /** Whether a leaving host still waits for all its guests, and not only for its children. */
  private boolean patient = true;

  private ShmHost(EventLoop loop, HostOptions options, Segment segment) {
    this.loop = loop;
    this.options = options;
    this.sys = options.systemCalls();
    this.segment = segment;
    this.roster = new Roster(segment.config().maxGuests());
    this.rounds = new Rounds(this);
    this.patience = loop.scheduler().at(0);
  }

  /**
   * Creates the segment and starts looking after it on {@code loop}, which the caller has to run.
   */
  public static ShmHost create(EventLoop loop, HostOptions options) throws IOException {
    Path path = options.path();
    Segment segment =
        path == null
            ? Segment.createAnonymous(options.systemCalls(), options.placement(), options.config())
            : Segment.create(options.systemCalls(), path, options.placement(), options.config());
    var host = new ShmHost(loop, options, segment);
    host.rounds.start();
    return host;
  }

  /** The segment. */
  public Segment segment() {
    return segment;
  }

  /** The loop that serves this host. */
  public EventLoop loop() {
    return loop;
  }

  // Guests.

  /**
   * Reserves an entry for a guest and creates its doorbell.
   *
   * @return the ticket; pass it to {@link #spawn} or close it
   * @throws SegmentException if all entries are taken, or the host is leaving
   */
  public SpawnTicket addPeer(PeerOptions peerOptions) throws IOException {
    checkStays();
    SpawnTicket ticket;
    try {
      ticket = makeTicket(hubPath(), peerOptions);
    } catch (InternalError fault) {
      throw segment.lost(fault);
    }
    if (leaving) { // raced with goodbye, which may not have seen this guest
      ticket.close();
      checkStays();
    }
    return ticket;
  }

  private void checkStays() throws SegmentException {
    if (leaving) {
      throw new SegmentException(
          SegmentException.Reason.HOST_GOODBYE, segment + ": this host is leaving");
    }
  }

  private SpawnTicket makeTicket(Path path, PeerOptions peerOptions) throws IOException {
    int id = segment.peers().reserve();
    Doorbell.Pair bells = null;
    try {
      bells = Doorbell.pair(sys);
      var peer = new Peer(this, id, peerOptions, bells.host());
      PeerLife life = peer.life();
      life.hear(AsyncDoorbell.on(loop, bells.host(), life::heard));
      roster.put(id, life);
      return new SpawnTicket(peer, path, bells.guest());
    } catch (IOException | RuntimeException | InternalError e) {
      if (bells != null) {
        bells.host().close();
        bells.guest().close();
      }
      segment.peers().release(id);
      throw e;
    }
  }

  private Path hubPath() {
    Path path = options.path();
    long pid = ProcessHandle.current().pid();
    return path != null
        ? path.toAbsolutePath()
        : Path.of("/proc/" + pid + "/fd/" + segment.descriptor()); // no locale's digits
  }

  /** Spawns a guest with its ticket; see {@link #spawn(List, SpawnTicket, UnaryOperator)}. */
  public Peer spawn(List<String> command, SpawnTicket ticket) throws IOException {
    return spawn(command, ticket, UnaryOperator.identity());
  }

  /**
   * Spawns a guest and uses up its ticket. The ticket's arguments are appended to the command. The
   * child inherits only the standard streams, its end of the doorbell and the segment's memory, and
   * leads its own process group. If it cannot be started, its entry becomes free again.
   *
   * <p>Waits until the loop's thread has done this, so some thread has to run the loop: for the
   * loop of a group, {@code start} the group first.
   *
   * @param command the program and its arguments
   * @param more sets anything else, such as environment, directory and standard streams;
   *     descriptors that it passes on are numbered after the guest's own
   * @throws SegmentException if the ticket was closed, or the host is leaving
   * @throws IllegalArgumentException if the ticket belongs to another host, or the command is
   *     empty; the ticket stays valid
   */
  // r[impl shm.spawn.fd-inheritance]
  public Peer spawn(List<String> command, SpawnTicket ticket, UnaryOperator<Spawn> more)
      throws IOException {
    if (ticket.peer().host() != this) {
      throw new IllegalArgumentException("the ticket of " + ticket.peer() + " is another host's");
    }
    if (command.isEmpty()) {
      throw new IllegalArgumentException("a command has at least the program");
    }
    try {
      return LoopCall.on(
          loop,
          () -> {
            if (ticket.peer().life().isGone()) {
              throw new SegmentException(
                  SegmentException.Reason.HOST_GOODBYE,
                  segment + ": this ticket was given back, or the host is leaving");
            }
            boolean inherited = options.path() == null;
            Path path = inherited ? Path.of("/proc/self/fd/" + CHILD_SEGMENT) : hubPath();
            var arguments = new SpawnArguments(path, ticket.peer().id(), CHILD_DOORBELL);
            var whole = new ArrayList<>(command);
            whole.addAll(arguments.toArguments());
            Spawn spawn = Spawn.command(whole).ownProcessGroup().pass(ticket.doorbell());
            if (inherited) {
              spawn.pass(segment.descriptor());
            }
            ticket.peer().life().spawned(more.apply(spawn).start(sys));
            ticket.used();
            return ticket.peer();
          });
    } catch (IOException | RuntimeException e) {
      ticket.close();
      throw e;
    }
  }

  /** The current guests in order of their ids, including those that hold only a ticket so far. */
  public List<Peer> peers() {
    return roster.all().stream().map(PeerLife::peer).toList();
  }

  /**
   * Polls all guests that have no handler of their own and passes their messages to {@code
   * handler}, at most {@link HostOptions#budget} for each. Returns the number of messages. One
   * thread at a time.
   */
  // r[impl shm.host.poll-peers]
  public int poll(MessageHandler handler) {
    int count = 0;
    var message = new Message();
    for (Peer peer : peers()) {
      if (peer.options().handler() == null) {
        count += poll(peer, handler, message);
      }
    }
    return count;
  }

  private int poll(Peer peer, MessageHandler handler, Message message) {
    int count = 0;
    try {
      while (count < options.budget() && peer.receive(message)) {
        count++;
        handler.onMessage(peer, message);
      }
    } catch (ProtocolViolation e) {
      LOG.log(Level.DEBUG, "one guest's trouble is not the others'", e);
    } catch (InternalError late) {
      throw segment.lost(late);
    }
    return count;
  }

  // Leaving.

  /**
   * Says goodbye: guests read what is in flight and leave. Children that are still alive after the
   * limit are killed. Then the segment is closed and its file deleted.
   *
   * @return completes on the loop thread when all of this is done. If the loop is stopped, the host
   *     does not wait for its guests: the future completes in the loop's last turn, or at once
   *     after it
   */
  public CompletableFuture<Void> goodbye(Duration limit) {
    Runnable leave =
        () -> {
          if (!leaving) {
            leaving = true;
            patience.after(limit).start(this::patienceOver);
            patient = sayGoodbye(); // if the guests cannot be told, wait for children only
            roster.all().forEach(PeerLife::hostLeaves);
            endIfAlone();
          }
        };
    if (!post(leave)) {
      // If the loop is in its last turn, this still runs on its thread, which may be serving
      // guests.
      loop.scheduler().schedule().start(_ -> endAtOnce());
    }
    return ended;
  }

  private void patienceOver(Operation<?> timer) {
    if (timer.hasValue()) {
      endPatience();
    } else {
      endAtOnce(); // the loop was stopped, or this host has already ended
    }
  }

  /**
   * Tells all guests. Returns false if the segment was truncated, so that they cannot be told; the
   * host ends regardless.
   */
  private boolean sayGoodbye() {
    try {
      segment.checkIntact();
      segment.sayGoodbye();
      return true;
    } catch (SegmentLost lost) {
      LOG.log(Level.WARNING, "the guests cannot be told goodbye", lost);
    } catch (InternalError fault) {
      LOG.log(Level.WARNING, "the guests cannot be told goodbye", segment.lost(fault));
    }
    return false;
  }

  private void endPatience() {
    patient = false;
    roster.all().forEach(PeerLife::kill);
    endIfAlone();
  }

  /** Ends the host once there is no guest left to wait for. */
  private void endIfAlone() {
    boolean alone = roster.all().stream().noneMatch(life -> patient || life.hasChild());
    if (leaving && alone && !ended.isDone()) {
      roster.all().forEach(PeerLife::abandon);
      release();
    }
  }

  private void release() {
    rounds.stop();
    patience.cancel();
    try {
      segment.close();
      ended.complete(null);
    } catch (IOException e) {
      ended.completeExceptionally(e);
    }
  }

  /**
   * Says goodbye and waits up to five seconds for the guests. If the calling thread is interrupted,
   * children are killed at once. Must not be called on the loop.
   */
  @Override
  public void close() throws IOException {
    close(CLOSE_LIMIT);
  }

  /** Says goodbye and waits for the guests, at most for {@code limit}. */
  void close(Duration limit) throws IOException {
    if (loop.inLoop()) {
      throw new IllegalStateException("closing waits for the loop: use goodbye there");
    }
    long deadline = Deadlines.after(limit);
    CompletableFuture<Void> done = goodbye(limit);
    boolean interrupted = false;
    try {
      while (!isOver(done)) {
        if (Thread.interrupted()) {
          interrupted = true;
          post(this::endPatience); // on the loop thread, which may be serving guests right now
        } else if (loop.isStopRequested()) {
          driveOn();
        } else if (Deadlines.isOver(deadline)) {
          post(this::endPatience); // an earlier goodbye may have a longer limit
          driveOn(); // perhaps no thread has ever driven the loop
        }
      }
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Waits briefly for the end; preserves the interrupt status. */
  private boolean isOver(CompletableFuture<Void> done) throws IOException {
    try {
      done.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } catch (ExecutionException e) {
      throw new IOException("cannot close " + segment, e.getCause());
    }
  }

  /** Drives a loop that no thread drives, so that it finishes what is left. */
  private void driveOn() {
    Runnable drive =
        () -> {
          try {
            loop.runUntilEmpty();
          } catch (IllegalStateException | IOException driven) {
            LOG.log(Level.DEBUG, "somebody still drives the loop, and will come to that", driven);
          }
        };
    if (Thread.currentThread().isVirtual()) {
      Thread.ofPlatform().name("belfry-host-close").start(drive); // a loop refuses virtual threads
    } else {
      drive.run();
    }
  }

  /**
   * Ends the host after its loop was stopped: in the loop's last turn, or on any thread after that.
   */
  private synchronized void endAtOnce() {
    if (!ended.isDone()) {
      leaving = true;
      sayGoodbye();
      roster.all().forEach(PeerLife::abandon);
      release();
    }
  }

  // For PeerLife and Rounds.

  int budget() {
    return options.budget();
  }

  /**
   * Runs an action on the loop thread; returns false, without running it, if the loop has ended.
   */
  boolean post(Runnable action) {
    try {
      loop.scheduler().execute(action);
      return true;
    } catch (RejectedExecutionException e) {
      LOG.log(Level.DEBUG, "the loop has ended", e);
      return false;
    }
  }

  void violated(PeerLife life, ProtocolViolation violation) {
    post(() -> life.violated(violation));
  }

  void disconnect(PeerLife life, String reason) {
    post(() -> life.disconnect(reason));
  }

  /** Whether this is the loop's own thread, which must not block; its coroutines may. */
  boolean isLoopThread() {
    return loop.inLoop() && !Thread.currentThread().isVirtual();
  }

  void checkMayBlock() {
    if (isLoopThread()) {
      throw new IllegalStateException("waiting for a guest would stop the loop");
    }
  }

  Roster roster() {
    return roster;
  }

  /** Registers a guest that walked in. */
  void welcome(int id) {
    roster.put(id, new Peer(this, id, options.walkIns(), null).life());
  }

  /** Called just before a guest's entry becomes free. */
  void forget(int id) {
    roster.remove(id);
  }

  /** Called when a guest is gone. */
  void left() {
    endIfAlone();
  }
}
