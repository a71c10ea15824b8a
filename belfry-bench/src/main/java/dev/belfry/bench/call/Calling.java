package dev.belfry.bench.call;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** A way to call, open for as long as it is measured; also what answers, where that is another. */
interface Calling extends AutoCloseable {
  /** One more who calls, with payloads of so many bytes. */
  Caller caller(int bytes) throws Exception;

  /** Threads for so many of them. */
  default ExecutorService threads(int count) {
    return Executors.newFixedThreadPool(count);
  }

  /** Puts it under load. */
  default CallFigures measure(CallLoad load) throws Exception {
    return load.run(this);
  }

  @Override
  void close() throws IOException;
}
