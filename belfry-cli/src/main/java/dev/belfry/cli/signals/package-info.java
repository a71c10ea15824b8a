/** {@code belfry signals}: the catalog of signals, and those that come. */
@NullMarked
package dev.belfry.cli.signals;

import org.jspecify.annotations.NullMarked;
