/**
 * Pools of worker processes ({@link dev.belfry.workers.WorkerPool}) and what runs in them ({@link
 * dev.belfry.workers.Worker}). A worker may crash, hang or be killed: every call still ends, with
 * its answer or with the reason why there is none.
 */
@NullMarked
package dev.belfry.workers;

import org.jspecify.annotations.NullMarked;
