package dev.belfry.signals;

/** A registration, which may be closed at any time and from any thread. */
@FunctionalInterface
public interface Registration extends AutoCloseable {
  /** Removes what was registered; a second call does nothing. */
  @Override
  void close();
}
