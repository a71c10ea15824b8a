package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The base of the generated implementation of {@link Sys} (see {@link NativeCallsGenerator}): how a
 * call is linked, where errno is captured, and how its result is interpreted.
 */
abstract class NativeCalls implements Sys {
  static final Sys SHARED = NativeCallsGenerator.create(null);

  private static final Linker LINKER = Linker.nativeLinker();
  private static final Map<Class<?>, MemoryLayout> C_TYPES =
      Map.of(
          short.class, JAVA_SHORT,
          int.class, JAVA_INT,
          long.class, JAVA_LONG,
          MemorySegment.class, ADDRESS);
  private static final ThreadLocal<MemorySegment> STATE_OF_THREAD =
      ThreadLocal.withInitial(NativeCalls::newState);

  /** Where errno is captured if all calls come from one thread; null to keep one per thread. */
  private final @Nullable MemorySegment state;

  NativeCalls(@Nullable MemorySegment state) {
    this.state = state;
  }

  static Sys confined() {
    return NativeCallsGenerator.create(newState());
  }

  private static MemorySegment newState() {
    return Arena.ofAuto().allocate(Linker.Option.captureStateLayout());
  }

  /** Called by generated code before each call that reports through errno. */
  final MemorySegment state() {
    MemorySegment own = state;
    return own != null ? own : STATE_OF_THREAD.get();
  }

  /** Converts the result of a call that reports through errno; called by generated code. */
  static int result(int returned, MemorySegment state) {
    return returned >= 0 ? returned : -state.get(JAVA_INT, 0);
  }

  /** Does the same for calls that return a {@code long}, such as a size or an address. */
  static long result(long returned, MemorySegment state) {
    return returned >= 0 ? returned : -state.get(JAVA_INT, 0);
  }

  /**
   * Links a function that reports through errno. This and the next three methods are the bootstrap
   * methods of the constants in generated code, so that a call is linked when it is first made.
   *
   * @param type the Java type of the call
   * @return a handle of that type with a leading parameter for the state that captures errno
   */
  static MethodHandle libc(
      MethodHandles.Lookup caller, String name, Class<?> kind, MethodType type, int variadicFrom) {
    return link(name, type, variadicFrom, true);
  }

  /** Links a function that returns its error number; the handle has exactly the given type. */
  static MethodHandle libcReturningError(
      MethodHandles.Lookup caller, String name, Class<?> kind, MethodType type) {
    return link(name, type, -1, false);
  }

  /** Links a system call by number, with {@code syscall(2)}; the handle is as for {@link #libc}. */
  static MethodHandle syscall(
      MethodHandles.Lookup caller, String name, Class<?> kind, MethodType type, int number) {
    return numbered(type, number, true);
  }

  /** Links a system call by number that returns -1 on any error; the handle has the given type. */
  static MethodHandle syscallWithoutErrno(
      MethodHandles.Lookup caller, String name, Class<?> kind, MethodType type, int number) {
    return numbered(type, number, false);
  }

  private static MethodHandle numbered(MethodType type, int number, boolean captureErrno) {
    MethodType c = type.changeReturnType(long.class).insertParameterTypes(0, long.class);
    MethodHandle call =
        MethodHandles.insertArguments(
            link("syscall", c, 1, captureErrno), captureErrno ? 1 : 0, (long) number);
    return MethodHandles.explicitCastArguments(
        call, call.type().changeReturnType(type.returnType()));
  }

  @SuppressWarnings("restricted")
  private static MethodHandle link(
      String name, MethodType type, int variadicFrom, boolean captureErrno) {
    var options = new ArrayList<Linker.Option>(2);
    if (captureErrno) {
      options.add(Linker.Option.captureCallState("errno"));
    }
    if (variadicFrom >= 0) {
      options.add(Linker.Option.firstVariadicArg(variadicFrom));
    }
    MemoryLayout[] parameters =
        type.parameterList().stream().map(NativeCalls::layout).toArray(MemoryLayout[]::new);
    return LINKER.downcallHandle(
        LINKER.defaultLookup().findOrThrow(name),
        FunctionDescriptor.of(layout(type.returnType()), parameters),
        options.toArray(Linker.Option[]::new));
  }

  private static MemoryLayout layout(Class<?> type) {
    MemoryLayout layout = C_TYPES.get(type);
    if (layout == null) {
      throw new IllegalArgumentException("no C type for " + type);
    }
    return layout;
  }
}
