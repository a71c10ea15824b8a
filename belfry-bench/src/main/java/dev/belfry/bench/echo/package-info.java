/**
 * Echo of small messages over TCP: each server in a process of its own, the load in another, all on
 * loopback.
 */
@NullMarked
package dev.belfry.bench.echo;

import org.jspecify.annotations.NullMarked;
