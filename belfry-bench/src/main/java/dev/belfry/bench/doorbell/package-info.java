/** How long it takes to wake another process. */
@NullMarked
package dev.belfry.bench.doorbell;

import org.jspecify.annotations.NullMarked;
