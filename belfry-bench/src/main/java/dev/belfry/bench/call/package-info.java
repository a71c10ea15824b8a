/** Calls to a worker of a pool, compared with other ways to have work done elsewhere. */
@NullMarked
package dev.belfry.bench.call;

import org.jspecify.annotations.NullMarked;
