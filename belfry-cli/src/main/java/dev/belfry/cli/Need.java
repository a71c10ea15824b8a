package dev.belfry.cli;

import java.util.Map;

/**
 * What Belfry needs a facility of the kernel for.
 *
 * @param needed whether Belfry cannot work without it
 * @param purpose what it is for
 */
record Need(boolean needed, String purpose) {
  private static final Map<String, Need> OF_FACILITY =
      Map.ofEntries(
          needed("epoll", "the event loop"),
          needed("eventfd", "waking a loop"),
          needed("timerfd", "timers of a loop"),
          needed("signalfd", "signals as events"),
          needed("futex", "sleeping on shared memory"),
          needed("robust_mutex", "noticing a dead process at once"),
          needed("memfd_seals", "segments that cannot shrink under their reader"),
          needed("pidfd", "watching and reaping workers"),
          needed("posix_spawn_closefrom", "workers inherit only what they should"),
          optional("epoll_pwait2", "timers below a millisecond; else by timerfd"),
          optional("futex_waitv", "waiting for many words of memory; else a thread for each"),
          optional("openat2", "opening below a directory only; else by openat"),
          optional("io_uring", "a faster loop; else by epoll"),
          optional("io_uring_single_issuer", "cheaper submission"),
          optional("io_uring_defer_taskrun", "completions only when asked for"),
          optional("io_uring_no_sqarray", "one indirection less"),
          optional("io_uring_multishot_accept", "one request for all connections"),
          optional("io_uring_multishot_recv", "one request for all data"),
          optional("io_uring_buffer_ring", "buffers chosen by the kernel"),
          optional("io_uring_futex_wait", "shared memory and sockets in one wait"));

  /** Returns the need for the facility of that name. */
  static Need of(String facility) {
    Need need = OF_FACILITY.get(facility);
    if (need == null) {
      throw new IllegalArgumentException("nothing is known about " + facility);
    }
    return need;
  }

  private static Map.Entry<String, Need> needed(String facility, String purpose) {
    return Map.entry(facility, new Need(true, purpose));
  }

  private static Map.Entry<String, Need> optional(String facility, String purpose) {
    return Map.entry(facility, new Need(false, purpose));
  }
}
