/** Messages between two processes: Belfry's shared memory, its peers, and the same ring in C. */
@NullMarked
package dev.belfry.bench.ipc;

import org.jspecify.annotations.NullMarked;
