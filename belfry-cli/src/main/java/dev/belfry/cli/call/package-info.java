/** {@code belfry call}: makes a call through the gateway of a running host. */
@NullMarked
package dev.belfry.cli.call;

import org.jspecify.annotations.NullMarked;
