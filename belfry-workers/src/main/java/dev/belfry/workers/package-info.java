/**
 * Pools of worker processes ({@link dev.belfry.workers.WorkerPool}) and what runs in them ({@link
 * dev.belfry.workers.Worker}). A worker may crash, hang or be killed: every call still ends, with
 * its answer or with the reason there is none.
 *
 * <h2>What is where</h2>
 *
 * <ul>
 *   <li>The API of callers: {@code WorkerPool}, {@code PoolOptions}, {@code CallOptions}, {@code
 *       StartedCall}, {@code PoolListener}, {@code PoolStatus}, and the kinds of {@code
 *       CallException}.
 *   <li>The path of a call: {@code Dispatch} chooses a worker, or makes the caller wait at the
 *       {@code Gate}; the worker's {@code WorkerCalls} keeps the {@code Call} in its {@code
 *       CallTable} and sends it; the {@code Lookout} decides which thread receives the answers;
 *       {@code Deadlines} and {@code EverySecond} end overdue calls.
 *   <li>The life of a worker: the {@code Supervisor} starts and replaces the {@code PooledWorker}s
 *       of its {@code Crew}, each with its {@code WorkerProcess} and {@code WorkerOutput}; {@code
 *       CrashLoop} and {@code StuckWatch} decide when to give up on a worker, or on starting any; a
 *       {@code Rehearsal} warms a worker up.
 *   <li>In the worker process: {@code Worker}, {@code Serving}, {@code JobReader}, {@code Answers},
 *       {@code Relay} and {@code Pace}.
 *   <li>Message formats, on either side: {@code Protocol} and {@code Status}; payloads in chunks:
 *       {@code Outgoing} and {@code Incoming}.
 * </ul>
 */
@NullMarked
package dev.belfry.workers;

import org.jspecify.annotations.NullMarked;
