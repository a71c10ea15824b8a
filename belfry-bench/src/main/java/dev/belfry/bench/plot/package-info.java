/** Pictures of what the benchmarks have measured. */
@NullMarked
package dev.belfry.bench.plot;

import org.jspecify.annotations.NullMarked;
