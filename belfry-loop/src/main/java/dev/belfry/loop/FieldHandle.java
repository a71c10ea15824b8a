package dev.belfry.loop;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Handles to fields, for accesses whose memory order is stated where they are made. */
final class FieldHandle {
  private FieldHandle() {}

  /** The handle to a field of the class that looks it up. */
  static VarHandle of(MethodHandles.Lookup lookup, String name, Class<?> type) {
    try {
      return lookup.findVarHandle(lookup.lookupClass(), name, type);
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
