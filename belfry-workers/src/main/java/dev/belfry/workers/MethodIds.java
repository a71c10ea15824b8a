package dev.belfry.workers;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Remembers the numbers of methods, because a digest takes longer than the way to a worker. */
final class MethodIds {
  /** Names may come from outside, so not all of them are kept. */
  private static final int MAX = 1024;

  private final Map<String, Long> ids = new ConcurrentHashMap<>();

  /**
   * The JDK reads files for its first digest. If there is no descriptor left for that, because the
   * workers have taken the last ones, it gives up digests for good.
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
      ids.clear(); // those that are called often will be back at once
    }
    ids.put(name, id);
    return id;
  }
}
