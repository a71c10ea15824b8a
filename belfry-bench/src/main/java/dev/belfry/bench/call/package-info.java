/** Calls: to a worker of a pool, and by other ways to have work done elsewhere. */
@NullMarked
package dev.belfry.bench.call;

import org.jspecify.annotations.NullMarked;
