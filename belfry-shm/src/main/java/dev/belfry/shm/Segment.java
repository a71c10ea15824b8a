package dev.belfry.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Io;
import dev.belfry.linux.RobustMutex;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A mapped segment of shared memory. The host creates it, in a file for guests that walk in or in
 * anonymous memory for guests that it spawns. A guest attaches to it by its path.
 *
 * <p>A process that can write the segment can write all of it: guests are trusted not to attack
 * each other, but nothing they write is used unchecked.
 *
 * <p>After {@link #close}, operations on its links return {@code OVER}. The memory is not unmapped
 * at once, because a thread may be accessing it, but by the garbage collector when nothing can
 * reach it any more; when memory runs short for another segment, the collector is run. Safe for use
 * by any number of threads.
 */
public final class Segment implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger(Segment.class.getName());

  private final Sys sys;
  private final String name;
  private final @Nullable Path path;
  private final boolean host;
  private final Fd file;
  private final SegmentLayout layout;
  private final Memory memory;
  private final PeerTable peers;
  private final long goodbyeAddress;
  private final @Nullable HostSlots hostSlots;
  private volatile boolean closed;

  private Segment(
      Sys sys,
      String name,
      @Nullable Path path,
      boolean host,
      Fd file,
      SegmentLayout layout,
      Memory memory) {
    this.sys = sys;
    this.name = name;
    this.path = path;
    this.host = host;
    this.file = file;
    this.layout = layout;
    this.memory = memory;
    this.goodbyeAddress = memory.address(SegmentHeader.GOODBYE, Integer.BYTES);
    this.peers = new PeerTable(this);
    this.hostSlots = host ? new HostSlots(this) : null;
  }

  /**
   * Creates a segment in a file that only its owner can open. Replaces a file that a dead host left
   * behind.
   *
   * @throws SegmentException if the path belongs to a host that is alive
   * @throws ErrnoException if there is no space or no permission
   */
  public static Segment create(Sys sys, Path path, Placement placement, SegmentConfig config)
      throws IOException {
    checkPlatform(ByteOrder.nativeOrder(), System.getProperty("sun.arch.data.model", "64"));
    var layout = new SegmentLayout(placement, config);
    SegmentFile.Aside aside = SegmentFile.createAside(sys, path);
    try {
      MemorySegment mapping = initialise(sys, aside.file(), layout);
      aside.putInPlace();
      return new Segment(
          sys, path.toString(), aside.path(), true, aside.file(), layout, Memory.over(mapping));
    } catch (IOException | RuntimeException e) {
      aside.abandon();
      throw e;
    }
  }

  /** Creates a segment in anonymous memory, sealed against truncation; see {@link #descriptor}. */
  // r[impl shm.file.path]
  public static Segment createAnonymous(Sys sys, Placement placement, SegmentConfig config)
      throws IOException {
    checkPlatform(ByteOrder.nativeOrder(), System.getProperty("sun.arch.data.model", "64"));
    var layout = new SegmentLayout(placement, config);
    Fd file = SharedFile.createAnonymous(sys, "belfry-segment");
    try {
      MemorySegment mapping = initialise(sys, file, layout);
      SharedFile.seal(
          sys, file.number(), SharedFile.SEAL_SHRINK | SharedFile.SEAL_GROW | SharedFile.SEAL_SEAL);
      return new Segment(sys, "anonymous segment", null, true, file, layout, Memory.over(mapping));
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** Maps a segment of another process, as a guest. Nothing is written yet. */
  // r[impl shm.file.attach]
  public static Segment attach(Sys sys, Path path) throws IOException {
    return open(sys, path, true);
  }

  /** Maps a segment read-only, whether or not its host is alive. */
  public static Segment inspect(Sys sys, Path path) throws IOException {
    return open(sys, path, false);
  }

  private static Segment open(Sys sys, Path path, boolean asGuest) throws IOException {
    checkPlatform(ByteOrder.nativeOrder(), System.getProperty("sun.arch.data.model", "64"));
    Fd file = SegmentFile.open(sys, path, asGuest);
    try {
      MemorySegment header = Arena.ofAuto().allocate(SegmentLayout.HEADER_BYTES, Long.BYTES);
      long length = FileStatus.of(sys, file.number()).size();
      long read = Io.readAt(sys, file.number(), header, 0);
      SegmentLayout layout =
          SegmentHeader.read(header.asSlice(0, Math.max(0, read)), length, path.toString());
      if (asGuest) {
        SegmentHeader.checkHost(header, path.toString());
      }
      // r[impl shm.file.mmap-posix]
      MemorySegment mapping = map(sys, file, layout, asGuest);
      return new Segment(sys, path.toString(), path, false, file, layout, Memory.over(mapping));
    } catch (IOException | RuntimeException e) {
      file.close();
      throw e;
    }
  }

  /** This segment behind a memory that observes the accesses; use only one of the two. */
  Segment through(UnaryOperator<Memory> view) {
    return new Segment(sys, name, path, host, file, layout, view.apply(memory));
  }

  private static MemorySegment initialise(Sys sys, Fd file, SegmentLayout layout)
      throws ErrnoException {
    allocate(sys, file, layout);
    MemorySegment mapping = map(sys, file, layout, true);
    SegmentHeader.write(mapping, layout);
    for (int peer = 1; peer <= layout.config().maxGuests(); peer++) {
      long fields = layout.offsetFields(peer);
      mapping.set(JAVA_LONG, fields, layout.ring(peer, Direction.TO_HOST));
      mapping.set(JAVA_LONG, fields + 8, layout.pool(peer));
      mapping.set(JAVA_LONG, fields + 16, layout.channelTable(peer));
      if (layout.isPadded()) { // before a guest can walk in and lock it
        mutex(sys, mapping, layout, peer).initialise();
      }
    }
    for (int owner = 0; owner <= layout.config().maxGuests(); owner++) {
      for (int word = 0; word < layout.bitmapWords(); word++) {
        mapping.set(JAVA_LONG, layout.pool(owner) + 8L * word, layout.allFree(word));
      }
    }
    // r[impl shm.ring.initialization] everything else is zero, as new files are
    SegmentHeader.writeMagic(mapping);
    return mapping;
  }

  private static void allocate(Sys sys, Fd file, SegmentLayout layout) throws ErrnoException {
    Shortage.outlast(
        () -> {
          SharedFile.allocate(sys, file.number(), layout.totalBytes());
          return file;
        });
  }

  private static MemorySegment map(Sys sys, Fd file, SegmentLayout layout, boolean writable)
      throws ErrnoException {
    return Shortage.outlast(
        () -> SharedFile.map(sys, file.number(), layout.totalBytes(), writable, Arena.ofAuto()));
  }

  /** The mutex that a guest holds as long as it lives. Padded placement only. */
  static RobustMutex mutex(Sys sys, MemorySegment mapping, SegmentLayout layout, int peer) {
    return new RobustMutex(sys, mapping.asSlice(layout.robustMutex(peer), RobustMutex.bytes()));
  }

  /** The magic of any file, or 0 if it is too short. */
  static long readMagic(Sys sys, Fd file) throws IOException {
    MemorySegment bytes = Arena.ofAuto().allocate(JAVA_LONG);
    return Io.readAt(sys, file.number(), bytes, 0) == Long.BYTES ? bytes.get(JAVA_LONG, 0) : 0;
  }

  // r[impl shm.architecture]
  static void checkPlatform(ByteOrder order, String wordBits) throws SegmentException {
    if (order != ByteOrder.LITTLE_ENDIAN || !wordBits.equals("64")) {
      throw new SegmentException(
          SegmentException.Reason.UNSUPPORTED_PLATFORM,
          "shared memory needs a little-endian 64-bit machine, not %s with %s bits"
              .formatted(order, wordBits));
    }
  }

  /** The layout, with all offsets. */
  public SegmentLayout layout() {
    return layout;
  }

  /** The configuration, as read when the segment was opened. */
  public SegmentConfig config() {
    return layout.config();
  }

  /** The table of peer entries. */
  public PeerTable peers() {
    return peers;
  }

  /** The descriptor, for a child to inherit; the child finds the segment under /proc/self/fd. */
  public int descriptor() {
    return file.number();
  }

  /** The number of slots of the host's pool that hold messages not read yet. */
  public int hostSlotsUsed() {
    return use(() -> slotsUsed(0));
  }

  /** The same for the pool of any owner: a guest's peer id, or 0 for the host. */
  int slotsUsed(int owner) {
    return config().slotsPerGuest() - SegmentSnapshot.freeSlots(memory, layout, owner);
  }

  /** The host's pool with its accounting. */
  HostSlots hostSlots() {
    if (hostSlots == null) {
      throw new IllegalStateException(name + " belongs to another process");
    }
    return hostSlots;
  }

  /**
   * Says goodbye on behalf of the host and wakes all sleepers: guests read what is in flight and
   * send no more.
   */
  // r[impl shm.goodbye.host]
  // r[impl shm.goodbye.host-atomic]
  public void sayGoodbye() {
    hostSlots(); // only the host may say it
    memory.setIntRelease(goodbyeAddress, 1);
    for (int peer = 1; peer <= config().maxGuests(); peer++) {
      if (peers.isAttached(peer)) {
        new Ring(this, peer, Direction.TO_HOST).wakeAll();
        new Ring(this, peer, Direction.TO_GUEST).wakeAll();
        for (int channel = 1; channel < config().maxChannels(); channel++) {
          FutexWait.wake(sys, memory.word(layout.channelGranted(peer, channel)), Integer.MAX_VALUE);
        }
      }
    }
  }

  /** Whether the host has said goodbye. */
  public boolean hasHostLeft() {
    try {
      boolean gone = memory.getIntAcquire(goodbyeAddress) != 0;
      if (gone) {
        checkIntact(); // a fault may have made it look so
      }
      return gone;
    } catch (InternalError fault) {
      throw lost(fault);
    }
  }

  /**
   * Whether the host holds its lock on the file, which it does as long as it lives. A foreign host
   * need not take it, and anonymous memory has none.
   *
   * @param otherwise the result if the lock cannot be queried
   */
  boolean isHostThere(boolean otherwise) {
    try {
      return SegmentFile.isHostThere(sys, file);
    } catch (ErrnoException | IllegalStateException e) {
      LOG.log(Level.DEBUG, "cannot see whether the host lives", e);
      return otherwise;
    }
  }

  /**
   * Checks that the host is alive, as far as that can be known.
   *
   * @throws SegmentException if it has died
   */
  void checkHostThere() throws SegmentException {
    boolean known = layout.isPadded() && path != null && !SegmentFile.isDescriptor(path);
    if (known && !isHostThere(true)) {
      throw new SegmentException(
          SegmentException.Reason.HOST_GONE,
          name + " was left behind by a host that is gone; the next one replaces it");
    }
  }

  /** Whether this side has closed the segment. */
  public boolean isClosed() {
    return closed;
  }

  Sys sys() {
    return sys;
  }

  Memory memory() {
    return memory;
  }

  /** Throws if the file was truncated, which also explains why the kernel refuses a wait. */
  void checkIntact() {
    if (closed) {
      return;
    }
    try {
      if (FileStatus.of(sys, file.number()).size() < layout.totalBytes()) {
        throw new SegmentLost(name);
      }
    } catch (ErrnoException | IllegalStateException e) {
      if (!closed) { // otherwise it was closed just now
        throw new SegmentLost(name, e);
      }
    }
  }

  /**
   * Whether the file has its full length. For clean-up that must go on in any case: a fault on
   * truncated memory may surface in compiled code after it has left the block that would catch it.
   */
  boolean isIntact() {
    try {
      checkIntact();
      return true;
    } catch (SegmentLost e) {
      return false;
    }
  }

  /**
   * The exception for the error by which the JVM reports a fault on the mapping. Compiled code
   * throws that error only at a later loop back-edge, call or return, so it is the outermost
   * methods that have to catch it. By then the code has gone on with whatever value the fault left
   * in place of the real one. So before such a value is taken for an end, call {@link
   * #checkIntact}.
   */
  SegmentLost lost(InternalError fault) {
    return new SegmentLost(name, fault);
  }

  /**
   * Runs an action on the mapping; reports truncation as {@link SegmentLost}. Not for hot paths.
   */
  <T extends @Nullable Object> T use(Supplier<T> action) {
    try {
      return action.get();
    } catch (InternalError fault) {
      throw lost(fault);
    }
  }

  /** Ends the use of the segment; the host's file is deleted. */
  @Override
  public void close() throws IOException {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    try {
      if (host && path != null && SegmentFile.isAt(sys, path, file)) {
        Files.delete(path);
      }
    } finally {
      file.close();
    }
  }

  @Override
  public String toString() {
    return name;
  }
}
