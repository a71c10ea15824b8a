/**
 * An event loop for Linux: {@link dev.belfry.loop.EventLoop} and what runs on it. Every {@link
 * dev.belfry.loop.Operation} is lazy, can be cancelled by a {@link dev.belfry.loop.StopToken}, and
 * completes exactly once on the loop thread; it is used with a callback, awaited in a {@link
 * dev.belfry.loop.Coroutine}, or turned into a future.
 *
 * <h2>What is where</h2>
 *
 * <ul>
 *   <li>The loop: {@code EventLoop}, its inside {@code LoopCore}, its turns {@code Work}, tasks of
 *       other threads in the {@code PostedTasks}, {@code EventLoopGroup}, {@code Scheduler}, {@code
 *       TimerHeap}, {@code Watchdog}, {@code LoopMetrics}.
 *   <li>Operations: {@code Operation} with its life, {@code IoOperation} and its kinds, {@code
 *       TimerOperation}, {@code FutexOperation}, {@code ChildOperation}; stop tokens; coroutines by
 *       {@code Coroutine} and {@code LoopCarrier}.
 *   <li>Descriptors: {@code StreamSocket}, {@code Acceptor}, {@code DatagramSocket}, {@code
 *       RegularFile}, {@code StandardStream}, and {@code Descriptor} for any other.
 *   <li>Behind them a {@code Driver} with a {@code Handle} for each descriptor. On epoll: {@code
 *       EpollDriver}, {@code EpollWait}, {@code WaitQueue} with what waits to read or to write. On
 *       io_uring: {@code UringDriver} and all the other {@code Uring} classes.
 *   <li>Signals: {@code SignalService}, {@code SignalSet} and the other {@code Signal} classes.
 * </ul>
 */
@NullMarked
package dev.belfry.loop;

import org.jspecify.annotations.NullMarked;
