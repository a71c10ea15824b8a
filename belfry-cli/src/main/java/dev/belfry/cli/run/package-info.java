/** Running a host: its workers, its surfaces, its signals, its end. */
@NullMarked
package dev.belfry.cli.run;

import org.jspecify.annotations.NullMarked;
