package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** VarHandles of fields, for accesses that state their memory order at the call site. */
final class FieldHandle {
  private FieldHandle() {}

  /** The handle of a field of the class that looks it up. */
  static VarHandle of(MethodHandles.Lookup lookup, String name, Class<?> type) {
    try {
      return lookup.findVarHandle(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
