package dev.belfry.cli;

import dev.belfry.linux.Sys;
import dev.belfry.testkit.SysTap;
import java.util.Map;

/** The real system calls, some of which fail. */
final class FaultySys {
  private FaultySys() {}

  /** Makes the named calls fail with the given error numbers. */
  static Sys failing(Map<String, Integer> errnoOfCall) {
    SysTap tap = SysTap.over(Sys.forAnyThread());
    errnoOfCall.forEach(tap::fail);
    return tap.sys();
  }
}
