/**
 * What all measurements share: contenders in processes of their own, rounds in a rotated order,
 * statistics, tables, goals and JSON.
 */
@NullMarked
package dev.belfry.bench.harness;

import org.jspecify.annotations.NullMarked;
