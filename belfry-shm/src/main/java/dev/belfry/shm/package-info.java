/**
 * Messages between a host and its guests through a segment of shared memory: the segment and its
 * format, rings of descriptors, slots for larger payloads, channels with credit, and waiting for
 * all of these.
 *
 * <h2>What is where</h2>
 *
 * From the bytes upwards; each group builds on the ones before it:
 *
 * <ul>
 *   <li>The segment: {@code SegmentConfig}, {@code SegmentLayout} with all its offsets, {@code
 *       Memory}, {@code SegmentFile}, {@code SegmentHeader}, {@code Segment}, and {@code PeerTable}
 *       with the states of the peer entries.
 *   <li>One direction: {@code Ring}, {@code MessageDescriptor}, {@code SlotPool}, {@code
 *       HostSlots}, {@code SlotReader}; above them {@code Inbox} and {@code Outbox}, and {@code
 *       Channels}.
 *   <li>Waiting: a {@code Waiter} waits for an {@code Awaitable}, spinning first and then sleeping
 *       on a {@code FutexWait}; {@code BellWait} sleeps on a {@code Doorbell}, and {@code Room}
 *       waits on an event loop without blocking a thread.
 *   <li>A {@code Link} joins both directions, for one thread. An {@code Exchange} opens it to any
 *       number of threads, which take turns in {@code Sending} and {@code Receiving}.
 *   <li>The host: {@code ShmHost}. It sees each guest as a {@code Peer}, with a {@code PeerLife}
 *       and the other {@code Peer} classes behind it. {@code Rounds} polls guests that do not ring.
 *   <li>The guest: {@code ShmGuest}, {@code GuestLife}, and the {@code Lifeline} that proves it is
 *       alive.
 * </ul>
 */
@NullMarked
package dev.belfry.shm;

import org.jspecify.annotations.NullMarked;
