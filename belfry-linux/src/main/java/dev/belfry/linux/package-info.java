/**
 * The system calls of Linux, one class per kernel facility, and nothing else: no policy, no
 * threads, no third-party code.
 *
 * <p>There are three layers. {@link dev.belfry.linux.Sys} is the raw list of calls: integers and
 * memory segments in, a result or {@code -errno} out. The facilities ({@link
 * dev.belfry.linux.Epoll}, {@link dev.belfry.linux.Futex}, {@link dev.belfry.linux.Sockets} and so
 * on) take a {@code Sys}, so that a test can count calls or inject any errno. They own the
 * descriptors they open through {@link dev.belfry.linux.Fd} and throw {@link
 * dev.belfry.linux.ErrnoException}, except for calls on hot paths, which return {@code -errno} and
 * allocate nothing.
 *
 * <h2>Interrupted calls</h2>
 *
 * The facilities decide what EINTR means:
 *
 * <ul>
 *   <li>a call that can be repeated without a change of meaning is repeated;
 *   <li>a wait with an absolute deadline is repeated, because the deadline still holds;
 *   <li>a wait with a relative timeout is repeated with the remaining time, except {@link
 *       dev.belfry.linux.Epoll#await}, which reports {@code -EINTR}: only the loop knows what it
 *       would wait for next;
 *   <li>{@code close} is never repeated, because Linux has already freed the number;
 *   <li>an interrupted {@code connect} continues by itself and counts as in progress.
 * </ul>
 */
@NullMarked
package dev.belfry.linux;

import org.jspecify.annotations.NullMarked;
