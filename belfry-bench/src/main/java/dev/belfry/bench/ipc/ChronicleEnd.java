package dev.belfry.bench.ipc;

import java.nio.file.Path;
import net.openhft.chronicle.bytes.ReadBytesMarshallable;
import net.openhft.chronicle.bytes.WriteBytesMarshallable;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.ExcerptTailer;

/** Two Chronicle queues; waiting is spinning. */
final class ChronicleEnd implements IpcEnd {
  private final ExcerptAppender out;
  private final ExcerptTailer in;
  private final byte[] bytes;
  private final WriteBytesMarshallable writing;
  private final ReadBytesMarshallable reading;
  private long sent;
  private long received;

  ChronicleEnd(Path directory, boolean passive, int length) {
    ChronicleQueue to = ChronicleQueue.single(directory.resolve("to-queue").toString());
    ChronicleQueue fro = ChronicleQueue.single(directory.resolve("fro-queue").toString());
    this.out = (passive ? fro : to).createAppender();
    this.in = (passive ? to : fro).createTailer();
    this.bytes = new byte[length - Long.BYTES];
    this.writing = buffer -> buffer.writeLong(sent).write(bytes);
    this.reading =
        buffer -> {
          received = buffer.readLong();
          buffer.read(bytes);
        };
  }

  @Override
  public void send(long number) {
    sent = number;
    out.writeBytes(writing);
  }

  @Override
  public long receive() {
    while (!in.readBytes(reading)) {
      Thread.onSpinWait();
    }
    return received;
  }
}
