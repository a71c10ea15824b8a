package dev.belfry.workers;

import dev.belfry.linux.ResourceLimit;
import dev.belfry.linux.Sys;

/** A process that runs out of descriptors before its pool first needs a method's number. */
final class WithoutDescriptors {
  private WithoutDescriptors() {}

  public static void main(String[] args) throws Exception {
    Class.forName(Protocol.class.getName()); // a jar would be open already
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
