/** Tests of statistics and their display. */
@NullMarked
package dev.belfry.bench.harness;

import org.jspecify.annotations.NullMarked;
