package dev.belfry.workers;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Caches method ids, because computing the digest takes longer than reaching a worker. */
final class MethodIds {
  /** Bounded, because names may come from outside. */
  private static final int MAX = 1024;

  private final Map<String, Long> ids = new ConcurrentHashMap<>();

  /**
   * Computes a digest in advance, because the JDK reads files for its first. If no descriptor is
   * left for that, because the workers have taken the last ones, all later digests fail too.
   */
  MethodIds() {
    Protocol.methodId("first");
  }

  long of(String name) {
    Long known = ids.get(name);
    if (known != null) {
      return known;
    }
    long id = Protocol.methodId(name);
    if (ids.size() >= MAX) {
      ids.clear(); // the frequent ones will be back at once
    }
    ids.put(name, id);
    return id;
  }
}
