package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** What is to happen at a stop; its own place in the list of its {@link StopToken}. */
abstract class StopCallback {
  @Nullable StopCallback newer;
  @Nullable StopCallback older;
  boolean linked;

  /** The stop was requested, and this is no longer in the list; under the lock of the token. */
  void taken() {}

  abstract void stopRequested();
}
