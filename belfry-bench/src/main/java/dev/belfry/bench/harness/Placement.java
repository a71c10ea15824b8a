package dev.belfry.bench.harness;

/**
 * How far apart the virtual processors were during a measurement, by the time that a cache line
 * takes from one to the other and back.
 *
 * @param distance the class
 * @param roundTripNanos the time; the longer one if it was taken before and after
 */
public record Placement(Distance distance, double roundTripNanos) {
  // Round trips seen: about 20 to 50 ns, about 80 to 180 ns, and well above that.
  private static final double NEAR_FROM_NANOS = 65;
  private static final double FAR_FROM_NANOS = 220;

  /** Classes of distance; figures of different classes are not compared. */
  public enum Distance {
    /** Two threads of one core. */
    SAME_CORE,
    /** Two cores that share a cache. */
    NEAR,
    /** Two cores that do not. */
    FAR,
    /** It was not the same before and after. */
    CHANGED,
    /** There is one processor only, or it was not looked at. */
    UNKNOWN
  }

  /** Nothing is known. */
  public static final Placement UNKNOWN = new Placement(Distance.UNKNOWN, 0);

  /** The placement that a round trip tells. */
  public static Placement of(double roundTripNanos) {
    Distance distance =
        roundTripNanos < NEAR_FROM_NANOS
            ? Distance.SAME_CORE
            : roundTripNanos < FAR_FROM_NANOS ? Distance.NEAR : Distance.FAR;
    return new Placement(distance, roundTripNanos);
  }

  /**
   * The placement of a measurement that began with this one and ended with another. A look that was
   * disturbed by other work says nothing against the other look.
   */
  public Placement until(Placement end) {
    if (distance == Distance.UNKNOWN || end.distance == Distance.UNKNOWN) {
      return distance == Distance.UNKNOWN ? end : this;
    }
    return new Placement(
        distance == end.distance ? distance : Distance.CHANGED,
        Math.max(roundTripNanos, end.roundTripNanos));
  }
}
