package dev.belfry.loop;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.FdFlags;
import dev.belfry.linux.FileStatus;
import dev.belfry.linux.Message;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Sockets;
import dev.belfry.linux.Sys;
import dev.belfry.loop.TransferOperation.Kind;
import java.io.IOException;

/** Any descriptor: an end of a pipe, a terminal, or one that was opened elsewhere. */
public final class Descriptor extends ByteHandle {
  private final boolean socket;
  private final boolean stream;
  private final boolean regular;
  private final boolean sendsToMany;

  private Descriptor(
      EventLoop loop, Fd fd, boolean socket, int type, boolean regular, boolean sendsToMany) {
    super(loop, fd, socket ? Kind.RECEIVE : Kind.READ, socket ? Kind.SEND : Kind.WRITE);
    this.socket = socket;
    this.stream = type == Sockets.Type.STREAM.number();
    this.regular = regular;
    this.sendsToMany = sendsToMany;
  }

  /**
   * Takes over a descriptor and makes it non-blocking and close-on-exec. The former affects every
   * process that shares the open file description.
   */
  // r[impl loop.fd.nonblock]
  public static Descriptor adopt(EventLoop loop, Fd fd) throws IOException {
    Sys sys = loop.sharedSys;
    FdFlags.setNonBlocking(sys, fd.number(), true);
    FdFlags.setCloseOnExec(sys, fd.number(), true);
    FileStatus status = FileStatus.of(sys, fd.number());
    if (!status.isSocket()) {
      return new Descriptor(loop, fd, false, 0, status.isRegular(), false);
    }
    int type = Sockets.option(sys, fd.number(), Sockets.SOL_SOCKET, Sockets.SO_TYPE);
    boolean sendsToMany =
        type == Sockets.Type.DATAGRAM.number()
            && Sockets.isUnix(sys, fd.number())
            && !isConnected(sys, fd.number());
    return new Descriptor(loop, fd, true, type, false, sendsToMany);
  }

  private static boolean isConnected(Sys sys, int socket) throws ErrnoException {
    try {
      Sockets.remoteAddress(sys, socket);
      return true;
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOTCONN)) {
        return false;
      }
      throw e;
    }
  }

  /** See {@link DatagramSocket#tellsWhenWritable}. */
  @Override
  boolean tellsWhenWritable() {
    return !sendsToMany;
  }

  @Override
  boolean isStreamSocket() {
    return stream;
  }

  @Override
  boolean isRegularFile() {
    return regular;
  }

  /**
   * Opens a pipe with both ends non-blocking. Few programs can cope with that. For a child, open a
   * blocking {@link Pipe}, give the child one end, and {@link #adopt} the other:
   *
   * {@snippet :
   * Pipe pipe = Pipe.open(sys, true);
   * PidFd child = Spawn.command("date").standard(1, pipe.writer().number()).start(sys);
   * pipe.writer().close(); // while anybody has it open, what is read does not end
   * try (child; Descriptor output = Descriptor.adopt(loop, pipe.reader())) {
   *   int bytes = output.readAll(buffer).await();
   *   ExitStatus status = loop.child(child).await();
   * }
   * }
   */
  public static PipeEnds pipe(EventLoop loop) throws IOException {
    Pipe pipe = Pipe.open(loop.sharedSys, false);
    return new PipeEnds(
        new Descriptor(loop, pipe.reader(), false, 0, false, false),
        new Descriptor(loop, pipe.writer(), false, 0, false, false));
  }

  /** The two ends of a pipe; each is closed separately. */
  public record PipeEnds(Descriptor reader, Descriptor writer) {}

  /** Sends a message, if this is a socket. */
  public MessageOperation send(Message message) {
    return new MessageOperation(this, requireSocket(message), false);
  }

  /** Receives a message, if this is a socket. */
  public MessageOperation receive(Message message) {
    return new MessageOperation(this, requireSocket(message), true);
  }

  private Message requireSocket(Message message) {
    if (!socket) {
      throw new IllegalStateException(what() + " is not a socket");
    }
    return message;
  }
}
