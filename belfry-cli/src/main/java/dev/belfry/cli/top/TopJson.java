package dev.belfry.cli.top;

import dev.belfry.cli.counters.CountersSample;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.workers.Latency;
import dev.belfry.workers.PoolStatus;
import dev.belfry.workers.PoolStatus.WorkerStatus;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** The content of {@link HostPage} as JSON, for programs. */
final class TopJson {
  private TopJson() {}

  static String of(HostEntry host, CountersSample sample) {
    PoolStatus pool = sample.pool();
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("pid", host.pid()).put("name", host.name());
    json.put("startedAt", host.startedAt().toString());
    json.put("sampleAgeMillis", sample.age().toMillis()).put("stale", sample.isStale());
    json.put("callsPerSecond", pool.callsPerSecond());
    latency(json, pool.latency());
    json.put("finished", pool.finished()).put("failed", pool.failed());
    json.put("repeated", pool.repeated()).put("deadLetters", pool.deadLetters());
    json.put("waiting", pool.waiting()).put("deaths", pool.deaths());
    json.put("deathsInARow", pool.deathsInARow()).put("circuitOpen", pool.circuitOpen());
    json.put("slotsUsed", pool.slotsUsed()).put("slots", pool.slots());
    ArrayNode workers = json.putArray("workers");
    pool.workers().forEach(worker -> worker(workers.addObject(), worker));
    return json.toPrettyString();
  }

  private static void worker(ObjectNode json, WorkerStatus worker) {
    json.put("name", worker.name()).put("pid", worker.pid()).put("state", worker.state());
    json.put("inFlight", worker.inFlight()).put("finished", worker.finished());
    latency(json, worker.latency());
    json.put("ringDepth", worker.ringDepth()).put("ringCapacity", worker.ringCapacity());
    json.put("deaths", worker.deaths()).put("ageMillis", worker.ageMillis());
  }

  private static void latency(ObjectNode json, Latency latency) {
    json.putObject("latencyNanos")
        .put("p50", latency.p50Nanos())
        .put("p99", latency.p99Nanos())
        .put("max", latency.maxNanos());
  }
}
