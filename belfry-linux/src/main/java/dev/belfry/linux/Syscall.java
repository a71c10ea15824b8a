package dev.belfry.linux;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Binds a method of {@link Sys} to a system call by number, for calls that the C library does not
 * wrap, or only in newer versions. Numbers above 400 are the same on all architectures.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Syscall {
  /** The number on x86-64, and on aarch64 unless that is given separately. */
  int value();

  /** The number on aarch64, where it differs. */
  int aarch64() default -1;

  /**
   * Whether errno is captured; if not, a failure is just -1. Passing the memory to capture it in
   * creates an object that the JIT compiler does not always optimise away.
   */
  boolean errno() default true;
}
