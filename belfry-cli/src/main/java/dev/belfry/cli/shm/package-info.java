/** {@code belfry shm}: inspects segments, and tests their hosts and guests. */
@NullMarked
package dev.belfry.cli.shm;

import org.jspecify.annotations.NullMarked;
