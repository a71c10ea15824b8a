/**
 * An event loop for Linux, {@link dev.belfry.loop.EventLoop}, and the operations that run on it. An
 * {@link dev.belfry.loop.Operation} is lazy, can be cancelled with a {@link
 * dev.belfry.loop.StopToken}, and completes exactly once, on the loop thread. Use it with a
 * callback, await it in a {@link dev.belfry.loop.Coroutine}, or turn it into a future.
 *
 * <h2>What is where</h2>
 *
 * <ul>
 *   <li>The loop: {@code EventLoop}, its core {@code LoopCore}, the work of its turns {@code Work},
 *       tasks from other threads {@code PostedTasks}; {@code EventLoopGroup}, {@code Scheduler},
 *       {@code TimerHeap}, {@code Watchdog}, {@code LoopMetrics}.
 *   <li>Operations: {@code Operation} and its life cycle {@code OperationCore}, {@code IoOperation}
 *       and its subclasses, {@code TimerOperation}, {@code FutexOperation}, {@code ChildOperation};
 *       stop tokens; coroutines, {@code Coroutine} and {@code LoopCarrier}.
 *   <li>Descriptors: {@code StreamSocket}, {@code Acceptor}, {@code DatagramSocket}, {@code
 *       RegularFile}, {@code StandardStream}, and {@code Descriptor} for any other.
 *   <li>Backends: a {@code Driver}, with a {@code Handle} for each descriptor. On epoll: {@code
 *       EpollDriver}, {@code EpollWait}, and a {@code WaitQueue} for each direction of a handle. On
 *       io_uring: {@code UringDriver} and the other {@code Uring} classes.
 *   <li>Signals: {@code SignalService}, {@code SignalSet} and the other {@code Signal} classes.
 * </ul>
 */
@NullMarked
package dev.belfry.loop;

import org.jspecify.annotations.NullMarked;
