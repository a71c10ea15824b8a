/**
 * Messages between a host and its guests through a segment of shared memory: the segment and its
 * format, rings of descriptors, slots for larger payloads, channels with credit, and waiting for
 * all of these.
 */
@NullMarked
package dev.belfry.shm;

import org.jspecify.annotations.NullMarked;
