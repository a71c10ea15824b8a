/**
 * An event loop for Linux: {@link dev.belfry.loop.EventLoop} and what runs on it. Every {@link
 * dev.belfry.loop.Operation} is lazy, can be cancelled by a {@link dev.belfry.loop.StopToken}, and
 * completes exactly once on the loop thread; it is used with a callback, awaited in a {@link
 * dev.belfry.loop.Coroutine}, or turned into a future.
 */
@NullMarked
package dev.belfry.loop;

import org.jspecify.annotations.NullMarked;
