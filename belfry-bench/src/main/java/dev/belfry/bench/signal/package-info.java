/**
 * From {@code kill} to the handler: each receiver in its own process, the sender in another. They
 * share a file in which the handlers record the time.
 */
@NullMarked
package dev.belfry.bench.signal;

import org.jspecify.annotations.NullMarked;
