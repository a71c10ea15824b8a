/** The log of the program. */
@NullMarked
package dev.belfry.cli.log;

import org.jspecify.annotations.NullMarked;
