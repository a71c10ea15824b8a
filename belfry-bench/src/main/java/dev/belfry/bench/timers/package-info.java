/**
 * Timers: how many are armed and cancelled, or armed and fired, per second, alone or among a
 * million pending ones; and how late they fire.
 */
@NullMarked
package dev.belfry.bench.timers;

import org.jspecify.annotations.NullMarked;
