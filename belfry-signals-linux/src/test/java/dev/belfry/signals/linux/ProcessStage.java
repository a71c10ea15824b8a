package dev.belfry.signals.linux;

import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/** The program in its own JVM, with real signals. */
final class ProcessStage implements Stage {
  private final TestProcess process;
  private final List<String> seen = new ArrayList<>();

  /** Lines skipped while waiting for another; threads print in any order. */
  private final List<String> passedOver = new ArrayList<>();

  private ProcessStage(TestProcess process) {
    this.process = process;
  }

  /** Waits until the program is ready. */
  static ProcessStage of(TestProcess process) throws InterruptedException {
    var stage = new ProcessStage(process);
    stage.line("ready");
    return stage;
  }

  @Override
  public void send(String signal) throws IOException, InterruptedException {
    kill(process, signal);
  }

  static void kill(TestProcess process, String signal) throws IOException, InterruptedException {
    int sent =
        new ProcessBuilder("kill", "-" + signal, Integer.toString(process.pid()))
            .inheritIO()
            .start()
            .waitFor();
    if (sent != 0) {
      throw new IOException("kill -" + signal + " gave " + sent);
    }
  }

  @Override
  public void pass(Duration time) throws InterruptedException {
    Thread.sleep(time);
  }

  @Override
  public String line(String prefix) throws InterruptedException {
    for (Iterator<String> earlier = passedOver.iterator(); earlier.hasNext(); ) {
      String line = earlier.next();
      if (line.startsWith(prefix)) {
        earlier.remove();
        return line.substring(prefix.length());
      }
    }
    while (true) {
      String line = process.line();
      seen.add(line);
      if (line.startsWith(prefix)) {
        return line.substring(prefix.length());
      }
      passedOver.add(line);
    }
  }

  @Override
  public int exitCode() throws InterruptedException {
    return process.exitCode();
  }

  @Override
  public List<String> all() throws InterruptedException {
    seen.addAll(process.rest());
    return seen;
  }

  @Override
  public void close() {
    process.close();
  }
}
