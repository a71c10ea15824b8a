package dev.belfry.http;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** How many connections a listener may have. */
public final class ConnectionLimit {
  private ConnectionLimit() {}

  /**
   * So many, or one in so many of the process's descriptors if those are fewer. The server gives up
   * listening, for good, when there is none left for a connection.
   *
   * @param most where there are enough descriptors
   * @param oneIn 3 for a third of the descriptors
   */
  public static int of(int most, int oneIn) {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? Math.clamp(unix.getMaxFileDescriptorCount() / oneIn, 1, most)
        : most;
  }
}
