package dev.belfry.bench.call;

import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A way to make calls, open while it is measured, together with the process that answers, if any.
 */
interface Calling extends AutoCloseable {
  /** Creates a caller with payloads of this many bytes. */
  Caller caller(int bytes) throws Exception;

  /** Creates threads for this many callers. */
  default ExecutorService threads(int count) {
    return Executors.newFixedThreadPool(count);
  }

  /** Measures it under load. */
  default CallFigures measure(CallLoad load) throws Exception {
    return load.run(this);
  }

  @Override
  void close() throws IOException;
}
