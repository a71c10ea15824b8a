package dev.belfry.loop;

import org.jspecify.annotations.Nullable;

/** An action to run on a stop. It doubles as its own node in the list of its {@link StopToken}. */
abstract class StopCallback {
  @Nullable StopCallback newer;
  @Nullable StopCallback older;
  boolean linked;

  /** The stop was requested and this was unlinked; called under the token's lock. */
  void taken() {}

  abstract void stopRequested();
}
