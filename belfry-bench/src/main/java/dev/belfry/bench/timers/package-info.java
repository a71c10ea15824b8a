/**
 * Timers: how many are armed and cancelled, or armed and fired, in a second, alone or among a
 * million that are pending; and how late they fire.
 */
@NullMarked
package dev.belfry.bench.timers;

import org.jspecify.annotations.NullMarked;
