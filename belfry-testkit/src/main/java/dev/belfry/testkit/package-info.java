/**
 * Shared test helpers: system calls that can be counted and made to fail, snapshots of open
 * descriptors, processes to talk to, programs compiled by gcc. Never shipped.
 */
@NullMarked
package dev.belfry.testkit;

import org.jspecify.annotations.NullMarked;
