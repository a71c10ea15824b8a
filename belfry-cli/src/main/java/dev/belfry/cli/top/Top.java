package dev.belfry.cli.top;

import dev.belfry.cli.Version;
import dev.belfry.cli.counters.CountersReader;
import dev.belfry.cli.counters.CountersSample;
import dev.belfry.cli.hosts.HostEntry;
import dev.belfry.cli.hosts.RunDirectory;
import dev.belfry.linux.Sys;
import dev.belfry.linux.Terminal;
import dev.belfry.workers.PoolStatus;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code belfry top}: shows the state of a running host. It reads only the host's counters, so a
 * host that hangs cannot block it, and is shown to hang.
 */
@Command(
    name = "top",
    description = {
      "Shows how a running host is doing: calls per second, latency, workers, deaths.",
      "In a terminal the view is live until q is pressed or the host ends; elsewhere it is printed once."
    },
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {
      "0:it was shown",
      "1:there is no such host, or its counters cannot be read",
      "2:the command line is wrong",
      "3:the host ended while it was watched",
      "4:shown once, but the sample is stale: the host hangs or is stopped",
      "128+N:ended by signal N, such as 130 by Ctrl+C"
    })
public final class Top implements Callable<Integer> {
  private static final int HOST_ENDED = 3;
  private static final int STALE = 4;
  private static final double SHORTEST_INTERVAL = 0.1;
  private static final double LONGEST_INTERVAL = 3600;

  /** The width of the text if standard output is not a terminal. */
  private static final int TEXT_COLUMNS = 110;

  private final Supplier<Sys> sys;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @Parameters(
      index = "0",
      arity = "0..1",
      paramLabel = "PID|NAME",
      description = "Which host; optional if only one is running.")
  private @Nullable String which;

  @Option(names = "--once", description = "Print it once, as text.")
  private boolean once;

  @Option(names = "--json", description = "Print one JSON object, for other programs.")
  private boolean json;

  @Option(
      names = "--interval",
      paramLabel = "SECONDS",
      description = "How often to refresh it; ${DEFAULT-VALUE} by default.")
  private double interval = 1;

  /** Creates the command, which uses these system calls for the terminal. */
  public Top(Supplier<Sys> sys) {
    this.sys = sys;
  }

  @Override
  public Integer call() throws IOException {
    if (!(interval >= SHORTEST_INTERVAL && interval <= LONGEST_INTERVAL)) {
      throw new ParameterException(
          spec.commandLine(), "--interval is between 0.1 and 3600 seconds, not " + interval);
    }
    RunDirectory directory = RunDirectory.ofUser();
    HostEntry host = directory.find(which);
    try (CountersReader reader = CountersReader.open(host.counters())) {
      return once || json || !isFitTerminal()
          ? showOnce(host, reader.read())
          : watch(directory, host, reader);
    }
  }

  private boolean isFitTerminal() {
    return Screen.size(sys.get()) != null && !"dumb".equals(System.getenv("TERM"));
  }

  private int showOnce(HostEntry host, CountersSample sample) {
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(TopJson.of(host, sample));
    } else {
      Terminal.Size size = Screen.size(sys.get());
      Look look = look(size == null ? TEXT_COLUMNS : size.columns(), Integer.MAX_VALUE);
      new HostPage(host, look, new History(sample))
          .still()
          .forEach(line -> out.println(line.stripTrailing()));
    }
    return sample.isStale() ? STALE : 0;
  }

  private int watch(RunDirectory directory, HostEntry host, CountersReader reader)
      throws IOException {
    var history = new History(reader.read());
    var limit = Duration.ofMillis(Math.round(interval * 1000));
    PrintWriter out = spec.commandLine().getOut();
    try (Screen screen = Screen.enter(sys.get(), out)) {
      while (directory.live().contains(host)) {
        Terminal.Size size = screen.size();
        screen.draw(new HostPage(host, look(size.columns(), size.rows()), history).live());
        if (Character.toLowerCase(screen.awaitKey(size, limit)) == 'q' || out.checkError()) {
          return 0;
        }
        history.add(reader.read());
      }
    }
    Duration up = Duration.between(host.startedAt(), Instant.now());
    PoolStatus last = history.latest().pool();
    out.printf(
        "%s has ended after %s: %s calls answered, %s failed, %d deaths%n",
        host,
        Figures.age(up),
        Figures.exact(last.finished()),
        Figures.exact(last.failed()),
        last.deaths());
    return HOST_ENDED;
  }

  private Look look(int columns, int rows) {
    String noColour = System.getenv("NO_COLOR");
    boolean colour = isFitTerminal() && (noColour == null || noColour.isEmpty());
    boolean ascii = !System.out.charset().newEncoder().canEncode('█');
    return new Look(columns, rows, colour, ascii);
  }
}
