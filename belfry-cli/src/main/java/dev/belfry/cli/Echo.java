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
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code belfry echo}: a server that sends back what it gets. */
@Command(
    name = "echo",
    description = "Sends back what clients send, on one event loop, until INT or TERM.",
    mixinStandardHelpOptions = true)
final class Echo implements Callable<Integer> {
  private static final int FAILED = 1;

  @Spec private CommandSpec spec = CommandSpec.create(); // picocli puts the real one here

  @ArgGroup(multiplicity = "1")
  private Place place = new Place();

  @Option(
      names = "--backend",
      paramLabel = "NAME",
      description = "epoll or epoll-timerfd; by default the best there is.")
  private @Nullable String backend;

  @Option(names = "--coroutines", description = "Serve each client by a coroutine, not callbacks.")
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

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    LoopOptions options = LoopOptions.DEFAULT.backend(chosenBackend());
    var ended = new CountDownLatch(1);
    try (EventLoop loop = EventLoop.open(options);
        Acceptor acceptor = Acceptor.open(loop, place.address())) {
      Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(loop, ended), "belfry-echo-stop"));
      new EchoServer(acceptor, coroutines).start();
      out.println("echo at " + acceptor.localAddress() + " on " + loop.backend().label());
      loop.run();
      return 0;
    } catch (IOException e) {
      spec.commandLine().getErr().println("belfry echo: " + e.getMessage());
      return FAILED;
    } finally {
      ended.countDown();
    }
  }

  /** When the program exits: lets the loop end in order, so that a socket's file is removed. */
  private static void stop(EventLoop loop, CountDownLatch ended) {
    loop.requestStop();
    try {
      ended.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private @Nullable Backend chosenBackend() {
    if (backend == null) {
      return null;
    }
    for (Backend known : Backend.values()) {
      if (known.label().equals(backend)) {
        return known;
      }
    }
    throw new ParameterException(
        spec.commandLine(), "There is no backend '" + backend + "': say epoll or epoll-timerfd.");
  }
}
