package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import java.util.function.IntConsumer;

/**
 * Everything read from a client. The server buffers input until a line or a chunk is complete,
 * without a limit for either, so bytes are counted here, before they are buffered.
 *
 * <p>Not thread-safe: one thread reads at a time, and handing over to another must establish a
 * happens-before edge.
 */
final class Inflow {
  /** The limit for anything but a payload; the server has a lower one for headers. */
  private static final int MAX_UNASKED = 64 * 1024;

  private final DataReader source;
  private final DataReader reader = DataReader.create(this::next);

  /** Called with the number of bytes read; throws if that is too many. */
  private IntConsumer counter = this::unasked;

  private int unasked;

  /**
   * Creates a counting reader.
   *
   * @param source the connection's own reader, which already has the first bytes
   */
  Inflow(DataReader source) {
    this.source = source;
  }

  /** The only reader to use. */
  DataReader reader() {
    return reader;
  }

  private byte[] next() {
    byte[] bytes = source.readBuffer().readBytes();
    counter.accept(bytes.length);
    return bytes;
  }

  private void unasked(int count) {
    unasked += count;
    if (unasked > MAX_UNASKED) {
      throw new CloseConnectionException("more than anybody has asked for");
    }
  }

  /** Expects only the head of a request from now on. */
  void expectHead() {
    unasked = 0;
    counter = this::unasked;
  }

  /** Expects a payload from now on; the counter throws if it gets too long. */
  void expectPayload(IntConsumer counts) {
    counter = counts;
  }

  /** Discards input until the stream ends or that many bytes were read. */
  void drop(long most) {
    counter = _ -> {};
    try {
      for (long count = 0; count < most; ) {
        count += reader.readBuffer().available();
      }
    } catch (DataReader.InsufficientDataAvailableException | ServerConnectionException e) {
      // The stream has ended, one way or another.
    }
  }
}
