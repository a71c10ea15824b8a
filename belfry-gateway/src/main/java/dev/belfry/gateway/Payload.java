package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import io.helidon.http.HeaderValues;
import io.helidon.http.RequestException;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/** The body of a request. It and its answer count against {@link Memory} until this is closed. */
final class Payload implements AutoCloseable {
  /** How much of an unused body is discarded; a client that sends more may lose the answer. */
  private static final long MAX_DROPPED = 64 << 20;

  /** Allowance for chunk framing, and for what arrives together with the end of a chunk. */
  private static final long FRAMING = 64 * 1024;

  /** The overhead of buffering one read, however small. */
  private static final long FOR_EACH = 128;

  private final ServerRequest request;
  private final Client client;
  private final Memory memory;
  private final long most;
  private long taken;

  /** The bytes read since the server last handed some out, which it still buffers. */
  private long unread;

  /** Why no more may be read; null if more may. */
  private @Nullable Refused objection;

  Payload(ServerRequest request, Client client, Memory memory, long most) {
    this.request = request;
    this.client = client;
    this.memory = memory;
    this.most = most;
  }

  byte[] read() throws IOException, Refused {
    if (!tryTake(FOR_EACH)) { // even without a payload, as the answer may be long
      throw full();
    }
    if (!request.content().hasEntity()) {
      return new byte[0];
    }
    if (request.headers().contentLength().orElse(0) > most) {
      throw tooLarge();
    }
    byte[] bytes = read((int) most + 1);
    if (bytes.length > most) {
      throw tooLarge();
    }
    return bytes;
  }

  private Refused tooLarge() {
    return new Refused(
        413, GatewayError.TOO_LARGE, "A payload has at most %d bytes".formatted(most));
  }

  /** Reads up to a limit; reserves memory for what arrives, not for what was announced. */
  private byte[] read(int limit) throws IOException, Refused {
    client.inflow().expectPayload(this::came);
    try {
      return new Handed(request.content().inputStream()).readNBytes(limit);
    } catch (DataReader.InsufficientDataAvailableException | ServerConnectionException e) {
      throw new CloseConnectionException("the client has gone", e);
    } catch (RequestException
        | DataReader.IncorrectNewLineException
        | NumberFormatException e) { // NumberFormatException: a chunk's size
      throw new Refused(
          400, GatewayError.BAD_REQUEST, "The chunks of the payload cannot be understood");
    } catch (CloseConnectionException e) {
      if (objection != null) {
        throw objection;
      }
      throw e;
    } finally {
      client.inflow().expectHead();
    }
  }

  /**
   * Counts bytes as they arrive: a chunk or its size line can be longer than the whole payload may
   * be.
   */
  private void came(int count) {
    unread += count;
    if (unread > most + FRAMING) {
      objection = tooLarge();
    } else if (!tryTake(count + FOR_EACH)) {
      objection = full();
    }
    if (objection != null) {
      throw new CloseConnectionException("no more of this", objection);
    }
  }

  private boolean tryTake(long bytes) {
    boolean isTaken = memory.tryTake(bytes);
    taken += isTaken ? bytes : 0;
    return isTaken;
  }

  private static Refused full() {
    return new Refused(Answer.full("Too many bytes are under way"));
  }

  /** Reserves memory for the answer, which a slow client may keep in memory for long. */
  void holdAnswer(long bytes) {
    memory.take(bytes);
    taken += bytes;
  }

  /** Resets the count of buffered bytes whenever bytes are handed out. */
  private final class Handed extends FilterInputStream {
    Handed(InputStream body) {
      super(body);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      unread = 0;
      return super.read(bytes, offset, length);
    }
  }

  /** Lets the client finish sending, so that it gets to read the answer. */
  void dropRest() throws IOException {
    boolean isHeldBack = request.headers().contains(HeaderValues.EXPECT_100);
    if (request.content().hasEntity() && (!isHeldBack || request.continueSent())) {
      long size = request.headers().contentLength().orElse(MAX_DROPPED);
      client.linger(Math.min(size, MAX_DROPPED));
    }
  }

  @Override
  public void close() {
    memory.giveBack(taken);
    taken = 0;
  }
}
