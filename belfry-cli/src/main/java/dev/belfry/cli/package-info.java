/**
 * The {@code belfry} command: puts the rooms together. Each subcommand is one class, listed in
 * {@link dev.belfry.cli.BelfryCommand}; one that needs several has a package of its own.
 */
@NullMarked
package dev.belfry.cli;

import org.jspecify.annotations.NullMarked;
