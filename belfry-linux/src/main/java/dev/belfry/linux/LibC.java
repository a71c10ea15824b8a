package dev.belfry.linux;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Binds a method of {@link Sys} to a function of the C library. The C types follow from the Java
 * signature: {@code int}, {@code long} (also for {@code size_t} and {@code off_t}) and a pointer
 * for a {@code MemorySegment}.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface LibC {
  /** The function's name. */
  String value();

  /** The index of the first variadic argument, for functions declared with an ellipsis. */
  int variadicFrom() default -1;

  /** Whether the function returns the error number itself and does not set {@code errno}. */
  boolean returnsError() default false;
}
