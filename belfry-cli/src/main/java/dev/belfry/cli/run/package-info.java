/** Runs a host: its workers, its surfaces, its signals and its shutdown. */
@NullMarked
package dev.belfry.cli.run;

import org.jspecify.annotations.NullMarked;
