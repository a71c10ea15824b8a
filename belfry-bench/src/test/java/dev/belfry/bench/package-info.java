/** Shows that the benchmarks run. */
@NullMarked
package dev.belfry.bench;

import org.jspecify.annotations.NullMarked;
