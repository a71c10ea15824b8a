/** How fast the death of a worker is noticed, by the means and by the worker's size. */
@NullMarked
package dev.belfry.bench.death;

import org.jspecify.annotations.NullMarked;
