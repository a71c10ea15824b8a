package dev.belfry.bench.call;

import java.io.IOException;

/** A way to call, open for as long as it is measured; also what answers, where that is another. */
interface Calling extends AutoCloseable {
  /** One more who calls. */
  Caller caller() throws Exception;

  /** Puts it under load. */
  default CallFigures measure(CallLoad load) throws Exception {
    return load.run(this);
  }

  @Override
  void close() throws IOException;
}
