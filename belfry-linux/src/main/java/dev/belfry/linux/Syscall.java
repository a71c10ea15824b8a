package dev.belfry.linux;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Binds a method of {@link Sys} to a system call by number, for calls that the C library does not
 * wrap (or only in versions newer than those in use). Numbers above 400 are the same everywhere.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface Syscall {
  /** The number on x86-64, and on aarch64 too unless that is given. */
  int value();

  /** The number on aarch64 where it differs. */
  int aarch64() default -1;

  /**
   * Whether the error number is wanted; if not, a failure is just -1. Passing the place for it
   * creates an object that the compiler does not always optimise away.
   */
  boolean errno() default true;
}
