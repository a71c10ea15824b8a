/**
 * The {@code belfry} command, which puts the modules together. Each subcommand is one class, listed
 * in {@link dev.belfry.cli.BelfryCommand}; one that needs several classes has its own package.
 */
@NullMarked
package dev.belfry.cli;

import org.jspecify.annotations.NullMarked;
