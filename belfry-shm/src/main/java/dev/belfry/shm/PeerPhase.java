package dev.belfry.shm;

/**
 * How far the life of a guest has got, as its host sees it.
 *
 * <pre>
 *   RESERVED ──► ATTACHED ──► DYING ──────────────────────► GONE
 *       │  guest claims  first witness   process has ended
 *       └────────────────────► DYING      and ring is empty
 * </pre>
 */
enum PeerPhase {
  /** Kept for a guest that was or will be started. */
  RESERVED,
  /** It works. */
  ATTACHED,
  /** There is a witness of its end; perhaps something of it still lives. */
  DYING,
  /** Its end was noticed, but whether its process lives on cannot be known: kept for ever. */
  QUARANTINED,
  /** Nothing of it is left. */
  GONE
}
