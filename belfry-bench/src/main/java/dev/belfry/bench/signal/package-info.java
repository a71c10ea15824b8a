/**
 * From {@code kill} to the handler: each receiver in a process of its own, the sender in another;
 * they share a file in which the handlers note the time.
 */
@NullMarked
package dev.belfry.bench.signal;

import org.jspecify.annotations.NullMarked;
