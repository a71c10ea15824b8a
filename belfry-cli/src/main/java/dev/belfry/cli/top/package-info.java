/** {@code belfry top}: shows the state of a running host in a terminal. */
@NullMarked
package dev.belfry.cli.top;

import org.jspecify.annotations.NullMarked;
