package dev.belfry.bench.harness;

/** How thorough a run is. */
public enum Effort {
  /** A few seconds; the figures are meaningless. */
  QUICK(2),
  /** About three minutes. */
  NORMAL(9),
  /** At most twenty minutes. */
  FULL(25);

  private final int rounds;

  Effort(int rounds) {
    this.rounds = rounds;
  }

  /** The number of rounds. */
  public int rounds() {
    return rounds;
  }

  /** The value for this effort. */
  public <T> T choose(T quick, T normal, T full) {
    return switch (this) {
      case QUICK -> quick;
      case NORMAL -> normal;
      case FULL -> full;
    };
  }
}
