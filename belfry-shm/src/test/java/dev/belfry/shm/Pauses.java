package dev.belfry.shm;

import java.util.Random;

/** Random pauses of about the time that it takes to fall asleep. */
final class Pauses {
  private Pauses() {}

  static void pause(Random random) {
    long until = System.nanoTime() + (random.nextInt(4) == 0 ? 0 : random.nextInt(12_000));
    while (System.nanoTime() - until < 0) {
      Thread.onSpinWait();
    }
  }
}
