/**
 * Pools of worker processes ({@link dev.belfry.workers.WorkerPool}) and what runs in them ({@link
 * dev.belfry.workers.Worker}). A worker may crash, hang or be killed: every call still ends, with
 * its answer or with the reason there is none.
 *
 * <h2>What is where</h2>
 *
 * <ul>
 *   <li>What callers use: {@code WorkerPool}, {@code PoolOptions}, {@code CallOptions}, {@code
 *       StartedCall}, {@code PoolListener}, {@code PoolStatus}, and the kinds of {@code
 *       CallException}.
 *   <li>The path of a call: {@code Dispatch} chooses a worker, or has the caller wait at the {@code
 *       Gate}; the worker's {@code WorkerCalls} keeps the {@code Call} in its {@code CallTable} and
 *       sends it; the {@code Lookout} decides which thread looks for answers; {@code Deadlines} and
 *       {@code EverySecond} end what takes too long.
 *   <li>The life of a worker: the {@code Supervisor} starts and replaces the {@code PooledWorker}s
 *       of its {@code Crew}, each with its {@code WorkerProcess} and what that prints; {@code
 *       CrashLoop} and {@code StuckWatch} say when enough is enough; a {@code Rehearsal} warms a
 *       worker up.
 *   <li>In the worker process: {@code Worker}, {@code Serving}, {@code JobReader}, {@code Answers},
 *       {@code Relay} and {@code Pace}.
 *   <li>Bytes, on either side: {@code Protocol}, {@code Status}, and payloads in chunks by {@code
 *       Outgoing} and {@code Incoming}.
 * </ul>
 */
@NullMarked
package dev.belfry.workers;

import org.jspecify.annotations.NullMarked;
