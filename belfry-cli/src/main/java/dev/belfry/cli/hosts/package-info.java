/** The hosts that run on this machine, and how commands find them: the run directory. */
@NullMarked
package dev.belfry.cli.hosts;

import org.jspecify.annotations.NullMarked;
