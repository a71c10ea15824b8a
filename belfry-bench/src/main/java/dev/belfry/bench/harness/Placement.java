package dev.belfry.bench.harness;

/**
 * How far apart the virtual processors were during a measurement, judged by the round trip of a
 * cache line between them.
 *
 * @param distance the class of distance
 * @param roundTripNanos the round trip; the longer one if measured before and after
 */
public record Placement(Distance distance, double roundTripNanos) {
  // Observed round trips: about 20 to 50 ns, about 80 to 180 ns, and well above that.
  private static final double NEAR_FROM_NANOS = 65;
  private static final double FAR_FROM_NANOS = 220;

  /** Classes of distance; figures of different classes are not compared. */
  public enum Distance {
    /** Two threads of one core. */
    SAME_CORE,
    /** Two cores that share a cache. */
    NEAR,
    /** Two cores that do not share a cache. */
    FAR,
    /** It differed before and after. */
    CHANGED,
    /** There is only one processor, or it was not measured. */
    UNKNOWN
  }

  /** Unknown. */
  public static final Placement UNKNOWN = new Placement(Distance.UNKNOWN, 0);

  /** The placement that a round trip indicates. */
  public static Placement of(double roundTripNanos) {
    Distance distance =
        roundTripNanos < NEAR_FROM_NANOS
            ? Distance.SAME_CORE
            : roundTripNanos < FAR_FROM_NANOS ? Distance.NEAR : Distance.FAR;
    return new Placement(distance, roundTripNanos);
  }

  /**
   * The placement of a measurement that began with this one and ended with another. A probe that
   * was disturbed by other work does not contradict the other one.
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
