/**
 * The {@code belfry} command: puts the rooms together. Each subcommand is one class, listed in
 * {@link dev.belfry.cli.BelfryCommand}.
 */
@NullMarked
package dev.belfry.cli;

import org.jspecify.annotations.NullMarked;
