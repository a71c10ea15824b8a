/** {@code belfry shm}: looks into segments, and tries the hosts and guests of them. */
@NullMarked
package dev.belfry.cli.shm;

import org.jspecify.annotations.NullMarked;
