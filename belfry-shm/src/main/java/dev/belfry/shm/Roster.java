package dev.belfry.shm;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The guests of a host by their ids. Safe for use by any number of threads. */
final class Roster {
  private final @Nullable PeerLife[] lives;

  Roster(int maxGuests) {
    this.lives = new PeerLife[maxGuests + 1];
  }

  synchronized void put(int id, PeerLife life) {
    lives[id] = life;
  }

  synchronized void remove(int id) {
    lives[id] = null;
  }

  synchronized boolean has(int id) {
    return lives[id] != null;
  }

  /** The current guests. */
  synchronized List<PeerLife> all() {
    var all = new ArrayList<PeerLife>();
    for (PeerLife life : lives) {
      if (life != null) {
        all.add(life);
      }
    }
    return all;
  }
}
