/**
 * Shared by all measurements: contenders in processes of their own, rounds in rotating order,
 * statistics, tables, goals and JSON.
 */
@NullMarked
package dev.belfry.bench.harness;

import org.jspecify.annotations.NullMarked;
