/** {@code belfry signals}: lists, checks and watches signals. */
@NullMarked
package dev.belfry.cli.signals;

import org.jspecify.annotations.NullMarked;
