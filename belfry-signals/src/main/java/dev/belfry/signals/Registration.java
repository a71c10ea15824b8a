package dev.belfry.signals;

/** Something that was registered. Closing takes it away, at any time and from any thread. */
@FunctionalInterface
public interface Registration extends AutoCloseable {
  /** Takes it away; a second call does nothing. */
  @Override
  void close();
}
