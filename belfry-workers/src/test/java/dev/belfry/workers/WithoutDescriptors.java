package dev.belfry.workers;

import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;

/** A process that has no descriptor left when its pool first needs the number of a method. */
final class WithoutDescriptors {
  private WithoutDescriptors() {}

  public static void main(String[] args) throws Exception {
    Class.forName(Protocol.class.getName()); // as in a jar, which is open
    var ids = new MethodIds();
    Sys sys = Sys.forAnyThread();
    ResourceLimit.Value before = ResourceLimit.DESCRIPTORS.get(sys);
    ResourceLimit.DESCRIPTORS.set(sys, new ResourceLimit.Value(0, before.hard()));
    long id;
    try {
      id = ids.of("echo");
    } finally {
      ResourceLimit.DESCRIPTORS.set(sys, before);
    }
    System.out.println("number " + Long.toHexString(id));
  }
}
