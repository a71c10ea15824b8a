/**
 * Echo of small messages over TCP on loopback: each server in its own process, the load in another.
 */
@NullMarked
package dev.belfry.bench.echo;

import org.jspecify.annotations.NullMarked;
