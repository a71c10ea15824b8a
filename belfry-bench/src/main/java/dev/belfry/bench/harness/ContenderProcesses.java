package dev.belfry.bench.harness;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** The processes of a benchmark; closing this ends them all. */
public final class ContenderProcesses implements AutoCloseable {
  private final Map<String, ContenderProcess> processes = new LinkedHashMap<>();

  /** Starts one without waiting for it, so that several come up together. */
  public void start(String name, List<String> command, Pinning pinning) throws IOException {
    processes.put(name, ContenderProcess.start(name, command, pinning));
  }

  /** Starts them all and waits until each is ready. */
  public void startAll(List<String> names, Function<String, List<String>> commands, Pinning pinning)
      throws IOException {
    for (String name : names) {
      start(name, commands.apply(name), pinning);
    }
    for (String name : names) {
      get(name).awaitReady();
    }
  }

  /** The process of this name. */
  public ContenderProcess get(String name) {
    ContenderProcess process = processes.get(name);
    if (process == null) {
      throw new IllegalArgumentException(name + " was not started");
    }
    return process;
  }

  @Override
  public void close() {
    processes.values().forEach(ContenderProcess::close);
  }
}
