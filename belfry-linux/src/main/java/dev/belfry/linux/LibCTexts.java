package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/** Texts from the C library: error messages ({@code strerror(3)}) and its own version. */
final class LibCTexts {
  private static final MethodHandle STRERROR =
      link("strerror", FunctionDescriptor.of(ADDRESS, JAVA_INT)).orElseThrow();

  private LibCTexts() {}

  /** The message for an error number. */
  static String error(int errno) {
    try {
      // For known numbers glibc returns constant strings, so no other thread can overwrite the
      // result.
      return string((MemorySegment) STRERROR.invokeExact(errno));
    } catch (Throwable unexpected) {
      throw new AssertionError("strerror", unexpected);
    }
  }

  /** The version of the GNU C library, such as 2.36; empty for another C library. */
  static Optional<String> libcVersion() {
    return link("gnu_get_libc_version", FunctionDescriptor.of(ADDRESS)).map(LibCTexts::call);
  }

  private static String call(MethodHandle function) {
    try {
      return string((MemorySegment) function.invokeExact());
    } catch (Throwable unexpected) {
      throw new AssertionError("a function without arguments", unexpected);
    }
  }

  @SuppressWarnings("restricted")
  private static String string(MemorySegment text) {
    return text.reinterpret(256).getString(0);
  }

  @SuppressWarnings("restricted")
  private static Optional<MethodHandle> link(String name, FunctionDescriptor type) {
    Linker linker = Linker.nativeLinker();
    return linker.defaultLookup().find(name).map(address -> linker.downcallHandle(address, type));
  }
}
