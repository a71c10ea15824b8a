package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** What is to happen at a stop; its own place in the list of its {@link StopToken}. */
abstract class StopCallback {
  @Nullable StopCallback newer;
  @Nullable StopCallback older;
  boolean linked;

  /** Which start of an operation it is for; read when the token takes the callback. */
  int start;

  abstract void stopRequested(int start);
}
