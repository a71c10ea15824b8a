package dev.belfry.workers;

import java.lang.System.Logger.Level;

/**
 * Is told what happens in a pool, on a thread of the pool; so it has to be quick, and what it wants
 * of the pool, such as a call or its end, it does on another thread.
 */
public interface PoolListener {
  /** A worker can be called. */
  default void onReady(String worker, int pid) {}

  /** A worker has ended without the pool having wanted it to. */
  default void onDeath(Death death) {
    String who = death.worker() + (death.pid() == 0 ? "" : " (process " + death.pid() + ")");
    String said = who + " died: " + death.how();
    String file = death.crashFile();
    System.getLogger(PoolListener.class.getName())
        .log(Level.WARNING, file == null ? said : said + "; its JVM wrote " + file);
  }

  /** A worker has written a line to its standard output or standard error. */
  default void onOutput(String worker, String line) {
    System.getLogger(PoolListener.class.getName()).log(Level.INFO, "{0}: {1}", worker, line);
  }

  /** A call was given up, because every worker that had it died. */
  default void onDeadLetter(DeadLetter letter) {
    System.getLogger(PoolListener.class.getName()).log(Level.ERROR, letter.getMessage());
  }

  /** So many workers in a row died before they had finished a call; no more are started. */
  default void onCircuitOpen(int deaths) {
    System.getLogger(PoolListener.class.getName())
        .log(
            Level.ERROR,
            "{0} workers in a row died before they had finished a call; no more are started until"
                + " the pool is reset",
            deaths);
  }
}
