/** x. */
@NullMarked
package dev.belfry.bench;

import org.jspecify.annotations.NullMarked;
