/** The run directory, where hosts announce themselves and commands find them. */
@NullMarked
package dev.belfry.cli.hosts;

import org.jspecify.annotations.NullMarked;
