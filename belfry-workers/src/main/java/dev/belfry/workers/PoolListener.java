package dev.belfry.workers;

import java.lang.System.Logger.Level;

/**
 * Is told what happens in a pool. Runs on the pool's own thread, so it must be quick; anything that
 * waits for the pool, such as calling or closing it, belongs on another thread.
 */
public interface PoolListener {
  /** A worker is ready for calls. */
  default void onReady(String worker, int pid) {}

  /** A worker has died: it ended in any way other than leaving at the pool's request. */
  default void onDeath(Death death) {
    String who = death.worker() + (death.pid() == 0 ? "" : " (process " + death.pid() + ")");
    String said = who + " died: " + death.how();
    String file = death.crashFile();
    System.getLogger(PoolListener.class.getName())
        .log(Level.WARNING, file == null ? said : said + "; it left " + file);
  }

  /** A worker has written a line to its standard output or standard error. */
  default void onOutput(String worker, String line) {
    System.getLogger(PoolListener.class.getName()).log(Level.INFO, "{0}: {1}", worker, line);
  }

  /** A call has failed because every worker that had it died. */
  default void onDeadLetter(DeadLetter letter) {
    System.getLogger(PoolListener.class.getName()).log(Level.ERROR, letter.getMessage());
  }

  /** This many workers in a row died before they had served; no more are started. */
  default void onCircuitOpen(int deaths) {
    System.getLogger(PoolListener.class.getName())
        .log(
            Level.ERROR,
            "{0} workers in a row died before they had finished a call; no more are started until"
                + " the pool is reset",
            deaths);
  }
}
