package dev.belfry.shm;

import dev.belfry.linux.Fd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.TestProcess;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A {@link SteppingGuest} spawned by a host, with both ends of its pipes. */
final class SteppedGuest implements AutoCloseable {
  /** The guest in Java; any program that takes the same steps can replace it. */
  static final List<String> JAVA = TestProcess.javaCommand(SteppingGuest.class);

  private final @Nullable Peer peer;
  private final BufferedWriter input;
  private final BufferedReader output;

  private SteppedGuest(@Nullable Peer peer, BufferedWriter input, BufferedReader output) {
    this.peer = peer;
    this.input = input;
    this.output = output;
  }

  /** Starts a process with given standard streams. */
  interface Starter {
    /** Starts it; null if no host knows it as a peer. */
    @Nullable Peer start(UnaryOperator<Spawn> streams) throws IOException;
  }

  /** Starts the guest and waits for its first line. */
  static SteppedGuest start(ShmHost host, List<String> command, PeerOptions options)
      throws IOException {
    return start(streams -> host.spawn(command, host.addPeer(options), streams));
  }

  static SteppedGuest start(Starter starter) throws IOException {
    Sys sys = Sys.forAnyThread();
    Pipe in = Pipe.open(sys, true);
    Pipe out = Pipe.open(sys, true);
    try {
      Peer peer =
          starter.start(
              spawn -> spawn.standard(0, in.reader().number()).standard(1, out.writer().number()));
      BufferedWriter input = Files.newBufferedWriter(path(in.writer().number()));
      BufferedReader output =
          Files.newBufferedReader(path(out.reader().number()), StandardCharsets.UTF_8);
      out.writer().close(); // so that its end is the end of its output
      var guest = new SteppedGuest(peer, input, output);
      guest.expect("started");
      return guest;
    } finally {
      Stream.of(in.reader(), in.writer(), out.reader(), out.writer()).forEach(Fd::close);
    }
  }

  private static Path path(int descriptor) {
    return Path.of("/proc/self/fd/" + descriptor);
  }

  /** Starts the Java guest and lets it attach. */
  static SteppedGuest attached(ShmHost host, PeerOptions options) throws IOException {
    return attached(host, JAVA, options);
  }

  /** Starts a guest and lets it attach. */
  static SteppedGuest attached(ShmHost host, List<String> command, PeerOptions options)
      throws IOException {
    SteppedGuest guest = start(host, command, options);
    guest.step("attach", "attached");
    if (guest.peer().awaitAttached(System.nanoTime() + TestProcess.PATIENCE.toNanos())
        != Awaited.READY) {
      throw new AssertionError("the host does not see its guest attach");
    }
    return guest;
  }

  Peer peer() {
    return Objects.requireNonNull(peer);
  }

  /** Tells it to take a step, without waiting for it. */
  void say(String step) throws IOException {
    input.write(step + "\n");
    input.flush();
  }

  /** Tells it to take a step and expects an answer. */
  void step(String step, String answer) throws IOException {
    say(step);
    expect(answer);
  }

  /** The next line of its output; null at the end. */
  @Nullable String next() throws IOException {
    return output.readLine();
  }

  void expect(String answer) throws IOException {
    String line = next();
    if (!answer.equals(line)) {
      throw new AssertionError("the guest says \"%s\", not \"%s\"".formatted(line, answer));
    }
  }

  void kill() throws IOException {
    signal(Signo.KILL);
  }

  void signal(int signal) throws IOException {
    Processes.kill(Sys.forAnyThread(), peer().pid().orElseThrow(), signal);
  }

  @Override
  public void close() throws IOException {
    output.close();
    try {
      input.close();
    } catch (IOException gone) {
      // It is dead, and there was unread input.
    }
  }
}
