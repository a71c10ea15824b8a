package dev.belfry.cli;

import dev.belfry.loop.Acceptor;
import dev.belfry.loop.Backend;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.LoopOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code belfry echo}: a server that sends back what it receives. */
@Command(
    name = "echo",
    description = "Sends back what clients send, on one event loop, until INT or TERM.",
    mixinStandardHelpOptions = true,
    versionProvider = Version.class,
    exitCodeListHeading = "%nExit codes:%n",
    exitCodeList = {"1:it cannot listen there", "128+N:ended by signal N, such as 143 by TERM"})
final class Echo implements Callable<Integer> {
  private static final int FAILED = 1;
  private static final int MAX_PORT = 65_535;
  private static final String AUTOMATIC = "auto";

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @ArgGroup(multiplicity = "1")
  private Place place = new Place();

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description =
          "epoll, epoll-timerfd or io_uring; auto for io_uring where it is allowed, else epoll. By"
              + " default the best epoll there is.")
  private @Nullable String backend;

  @Option(
      names = "--coroutines",
      description = "Serve each client with a coroutine instead of callbacks.")
  private boolean coroutines;

  /** Where to listen. */
  private static final class Place {
    @Option(
        names = "--port",
        paramLabel = "N",
        description = "A TCP port on the loopback address; 0 for any that is free.")
    private int port;

    @Option(names = "--unix", paramLabel = "PATH", description = "The file of a Unix socket.")
    private @Nullable Path unix;

    SocketAddress address() {
      return unix != null
          ? UnixDomainSocketAddress.of(unix)
          : new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }
  }

  // r[impl signals.scope.adoption]
  @Override
  public Integer call() {
    LoopOptions options = chosenOptions();
    if (place.port < 0 || place.port > MAX_PORT) {
      throw new ParameterException(
          spec.commandLine(), "--port is between 0 and 65535, not " + place.port + ".");
    }
    var service = new ServiceSignals(spec.commandLine().getErr());
    try {
      return serve(options, service);
    } finally {
      service.ended();
    }
  }

  private int serve(LoopOptions options, ServiceSignals service) {
    try (EventLoop loop = EventLoop.open(options);
        Acceptor acceptor = Acceptor.open(loop, place.address())) {
      service.onEnd(loop::requestStop);
      new EchoServer(acceptor, coroutines).start();
      PrintWriter out = spec.commandLine().getOut();
      out.println("echo at " + acceptor.localAddress() + " on " + loop.backend().label());
      loop.run();
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("belfry echo: " + Reason.of(e));
      return FAILED;
    }
  }

  private LoopOptions chosenOptions() {
    if (backend == null) {
      return LoopOptions.DEFAULT;
    }
    if (backend.equals(AUTOMATIC)) {
      return LoopOptions.DEFAULT.withIoUringPreferred();
    }
    for (Backend known : Backend.values()) {
      if (known.label().equals(backend)) {
        return LoopOptions.DEFAULT.withBackend(known);
      }
    }
    String choice =
        Arrays.stream(Backend.values()).map(Backend::label).collect(Collectors.joining(", "));
    throw new ParameterException(
        spec.commandLine(),
        "There is no backend '%s': say %s or %s.".formatted(backend, choice, AUTOMATIC));
  }
}
