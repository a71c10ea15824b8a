package dev.belfry.shm;

/**
 * The phases in the life of a guest, as its host sees it.
 *
 * <pre>
 *   RESERVED ──► ATTACHED ──► DYING ──────────────────────► GONE
 *       │  guest claims  first witness   process has ended
 *       └────────────────────► DYING      and ring is empty
 * </pre>
 */
enum PeerPhase {
  /** Reserved for a guest that was or will be started. */
  RESERVED,
  /** The guest is attached and works. */
  ATTACHED,
  /** A witness has reported its end; its process may still be alive. */
  DYING,
  /**
   * Its end was reported, but whether its process is still alive cannot be known. The entry is
   * never reused.
   */
  QUARANTINED,
  /** Nothing of the guest is left. */
  GONE
}
