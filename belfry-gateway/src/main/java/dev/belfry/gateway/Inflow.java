package dev.belfry.gateway;

import io.helidon.common.buffers.DataReader;
import io.helidon.webserver.CloseConnectionException;
import io.helidon.webserver.ServerConnectionException;
import java.util.function.IntConsumer;

/**
 * All that comes from a client. The server keeps what it reads until a line or a chunk is complete,
 * and has no limit for either, so it is here that bytes are counted: before anybody keeps them.
 *
 * <p>One thread at a time reads, and whoever hands that over to another makes sure that it sees
 * what was counted.
 */
final class Inflow {
  /** The limit for anything but a payload; for heads the server itself has a lower one. */
  private static final int MAX_UNASKED = 64 * 1024;

  private final DataReader source;
  private final DataReader reader = DataReader.create(this::next);

  /** Told how many have come; throws if that is too much. */
  private IntConsumer counter = this::unasked;

  private int unasked;

  /**
   * From there.
   *
   * @param source has the first bytes already
   */
  Inflow(DataReader source) {
    this.source = source;
  }

  /** All reading is done here. */
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

  /** From now on no payload is expected, only the head of a request. */
  void expectHead() {
    unasked = 0;
    counter = this::unasked;
  }

  /** From now on the given counter counts, and throws when it is too much. */
  void expectPayload(IntConsumer counts) {
    counter = counts;
  }

  /** Reads what nobody wants, until the client ends or that many bytes have come. */
  void drop(long most) {
    counter = _ -> {};
    try {
      for (long count = 0; count < most; ) {
        count += reader.readBuffer().available();
      }
    } catch (DataReader.InsufficientDataAvailableException | ServerConnectionException e) {
      // It has come to its end, one way or the other.
    }
  }
}
