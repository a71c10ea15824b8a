package dev.belfry.http;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** The maximum number of connections of a listener. */
public final class ConnectionLimit {
  private ConnectionLimit() {}

  /**
   * The given maximum, or a fraction of the process's descriptors if that is less. The server stops
   * listening for good when it runs out of descriptors.
   *
   * @param most the maximum if there are enough descriptors
   * @param oneIn the divisor: 3 for a third of the descriptors
   */
  public static int of(int most, int oneIn) {
    return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
        ? Math.clamp(unix.getMaxFileDescriptorCount() / oneIn, 1, most)
        : most;
  }
}
