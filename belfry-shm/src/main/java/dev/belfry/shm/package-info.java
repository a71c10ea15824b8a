/**
 * Messages between a host and its guests through a segment of shared memory: the segment and its
 * format, rings of descriptors, slots for larger payloads, channels with credit, and waiting for
 * all of these.
 *
 * <h2>What is where</h2>
 *
 * From the bytes upwards, each using those before it:
 *
 * <ul>
 *   <li>The segment: {@code SegmentConfig}, {@code SegmentLayout} with all offsets, {@code Memory},
 *       {@code SegmentFile}, {@code SegmentHeader}, {@code Segment}, and {@code PeerTable} with the
 *       states of its entries.
 *   <li>One direction: {@code Ring}, {@code MessageDescriptor}, {@code SlotPool}, {@code
 *       HostSlots}, {@code SlotReader}; above them {@code Inbox} and {@code Outbox}, and {@code
 *       Channels}.
 *   <li>Waiting: an {@code Awaitable} is waited for by a {@code Waiter}, which spins and sleeps on
 *       a {@code FutexWait}; {@code BellWait} sleeps at a {@code Doorbell}, {@code Room} in an
 *       event loop.
 *   <li>A {@code Link} is both directions for one thread; an {@code Exchange} makes it one for any
 *       number of threads, which take turns in {@code Sending} and {@code Receiving}.
 *   <li>The host: {@code ShmHost}; a guest as it sees it is a {@code Peer}, with a {@code PeerLife}
 *       and all the other {@code Peer} classes; {@code Rounds} look after those that do not ring.
 *   <li>The guest: {@code ShmGuest}, {@code GuestLife}, and the {@code Lifeline} by which it shows
 *       that it lives.
 * </ul>
 */
@NullMarked
package dev.belfry.shm;

import org.jspecify.annotations.NullMarked;
