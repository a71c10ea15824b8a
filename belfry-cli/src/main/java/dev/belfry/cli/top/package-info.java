/** {@code belfry top}: how it goes with a running host, in a terminal. */
@NullMarked
package dev.belfry.cli.top;

import org.jspecify.annotations.NullMarked;
