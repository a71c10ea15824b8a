package dev.belfry.loop;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinWorkerThread;
import org.jspecify.annotations.Nullable;

/**
 * Runs virtual threads on a given executor. The JDK can do this but has no API for it, so this
 * class reaches into {@code java.lang}, which must be open to us: the manifests of our jars and the
 * launcher see to that. It is the only class to do so. Callers ask {@link #unavailabilityCause}
 * first.
 */
public final class LoopCarrier {
  private static final @Nullable MethodHandle NEW_BUILDER;
  private static final @Nullable MethodHandle CURRENT_CARRIER;
  private static final @Nullable String CAUSE;

  static {
    MethodHandle builder = null;
    MethodHandle carrier = null;
    String cause = null;
    try {
      Class<?> type = Class.forName("java.lang.ThreadBuilders$VirtualThreadBuilder");
      MethodHandles.Lookup lookup = MethodHandles.privateLookupIn(type, MethodHandles.lookup());
      builder =
          lookup
              .findConstructor(type, MethodType.methodType(void.class, Executor.class))
              .asType(MethodType.methodType(Thread.Builder.OfVirtual.class, Executor.class));
      carrier =
          MethodHandles.privateLookupIn(Thread.class, MethodHandles.lookup())
              .findStatic(
                  Thread.class, "currentCarrierThread", MethodType.methodType(Thread.class));
    } catch (IllegalAccessException e) {
      cause =
          "java.base/java.lang is not open: start with --add-opens=java.base/java.lang=ALL-UNNAMED";
    } catch (ReflectiveOperationException e) {
      cause = "this JDK has no way to schedule virtual threads: " + e;
    }
    NEW_BUILDER = builder;
    CURRENT_CARRIER = carrier;
    CAUSE = cause;
  }

  private LoopCarrier() {}

  /** Why loops cannot schedule virtual threads; empty if they can. */
  public static Optional<String> unavailabilityCause() {
    return Optional.ofNullable(CAUSE);
  }

  /** Whether the caller is a virtual thread carried by a loop, which stands still meanwhile. */
  public static boolean carriesCaller() {
    Thread carrier = currentCarrier();
    return carrier != null
        && carrier != Thread.currentThread()
        && !(carrier instanceof ForkJoinWorkerThread); // the JDK's carriers
  }

  /** A builder of virtual threads on the executor, or on the JDK's where that is impossible. */
  static Thread.Builder.OfVirtual builder(Executor executor) {
    MethodHandle constructor = NEW_BUILDER;
    if (constructor == null || CAUSE != null) {
      return Thread.ofVirtual();
    }
    try {
      return (Thread.Builder.OfVirtual) constructor.invokeExact(executor);
    } catch (Throwable unexpected) {
      throw new AssertionError("making a virtual thread", unexpected);
    }
  }

  /** The platform thread that carries the calling virtual thread; null if that is unknown. */
  static @Nullable Thread currentCarrier() {
    MethodHandle carrier = CURRENT_CARRIER;
    if (carrier == null) {
      return null;
    }
    try {
      return (Thread) carrier.invokeExact();
    } catch (Throwable unexpected) {
      throw new AssertionError("asking for the carrier", unexpected);
    }
  }
}
