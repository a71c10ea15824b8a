package dev.belfry.cli.run;

import dev.belfry.admin.HostEvents;
import dev.belfry.signals.SignalLog;
import dev.belfry.signals.SignalRecord;
import dev.belfry.workers.DeadLetter;
import dev.belfry.workers.Death;
import dev.belfry.workers.PoolListener;
import java.lang.System.Logger.Level;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reports the events of a pool to the log and the console. */
final class HostListener implements PoolListener {
  private final SignalLog log;
  private final HostEvents events;

  HostListener(SignalLog log, HostEvents events) {
    this.log = log;
    this.events = events;
  }

  @Override
  public void onReady(String worker, int pid) {
    record(Level.INFO, "worker.ready", worker + " is ready", Map.of("pid", Integer.toString(pid)));
    events.add("ready", worker + " (process " + pid + ")");
  }

  @Override
  public void onDeath(Death death) {
    var fields = new LinkedHashMap<String, String>();
    fields.put("pid", Integer.toString(death.pid()));
    fields.put("exit_code", Integer.toString(death.exitCode()));
    String crashFile = death.crashFile();
    if (crashFile != null) {
      fields.put("crash_file", crashFile);
    }
    record(Level.WARNING, "worker.died", death.worker() + " died: " + death.how(), fields);
    events.add("death", death.worker() + " (process " + death.pid() + "): " + death.how());
  }

  @Override
  public void onOutput(String worker, String line) {
    record(Level.INFO, "worker.output", worker + ": " + line, Map.of());
  }

  @Override
  public void onDeadLetter(DeadLetter letter) {
    String text = String.valueOf(letter.getMessage());
    record(Level.ERROR, "worker.dead_letter", text, Map.of());
    events.add("dead-letter", text);
  }

  @Override
  public void onCircuitOpen(int deaths) {
    String text =
        "%d workers in a row died before they had finished a call; no more are started until USR2 comes: belfry signal %d USR2"
            .formatted(deaths, ProcessHandle.current().pid());
    record(Level.ERROR, "worker.circuit_open", text, Map.of());
    events.add("circuit", text);
  }

  private void record(Level level, String event, String message, Map<String, String> fields) {
    log.log(new SignalRecord(level, event, message, fields));
  }
}
