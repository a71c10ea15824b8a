/** How fast the death of a worker is known, by what tells of it and by the worker's size. */
@NullMarked
package dev.belfry.bench.death;

import org.jspecify.annotations.NullMarked;
