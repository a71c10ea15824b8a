/** What happens to calls whose workers are killed. */
@NullMarked
package dev.belfry.bench.crash;

import org.jspecify.annotations.NullMarked;
