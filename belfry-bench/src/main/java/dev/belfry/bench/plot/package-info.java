/** Pictures of benchmark results. */
@NullMarked
package dev.belfry.bench.plot;

import org.jspecify.annotations.NullMarked;
