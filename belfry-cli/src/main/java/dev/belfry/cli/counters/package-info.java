/**
 * The counters of a host, in a file of shared memory that any program can read while the host
 * writes it or after it has died. {@code docs/counters.md} describes the bytes.
 */
@NullMarked
package dev.belfry.cli.counters;

import org.jspecify.annotations.NullMarked;
