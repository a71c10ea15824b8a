package dev.belfry.testkit;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.Io;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import dev.belfry.linux.Sys;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A pseudoterminal ({@code pty(7)}) that runs a program, with the test in the role of the user: it
 * types, reads the screen and resizes the window. Closing kills the program.
 */
public final class TestTerminal implements AutoCloseable {
  private static final long TIOCSWINSZ = 0x5414;
  private static final long TIOCGPTN = 0x80045430L;
  private static final long TIOCSPTLCK = 0x40045431L;
  private static final int FLAGS = OpenFlags.READ_WRITE | OpenFlags.NO_CONTROLLING_TERMINAL;
  private static final int BUFFER_BYTES = 64 * 1024;

  private final Sys sys = Sys.forAnyThread();
  private final Fd person;
  private final Process process;

  /** What was shown since the start or since {@link #forget}; guarded by itself. */
  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();

  private final Thread reader;

  private TestTerminal(Fd person, Process process) {
    this.person = person;
    this.process = process;
    this.reader = Thread.ofPlatform().daemon().name("terminal").start(this::read);
  }

  /** Starts a program with a new terminal as its controlling one. */
  public static TestTerminal start(
      int columns, int rows, Map<String, String> environment, List<String> command)
      throws IOException {
    Sys sys = Sys.forAnyThread();
    Fd person = OpenFile.open(sys, Path.of("/dev/ptmx"), FLAGS, 0);
    try {
      File device = new File("/dev/pts/" + unlock(sys, person));
      resize(sys, person, columns, rows);
      List<String> inSession = new ArrayList<>(List.of("setsid", "--ctty", "--wait"));
      inSession.addAll(command);
      var builder =
          new ProcessBuilder(inSession)
              .redirectInput(device)
              .redirectOutput(device)
              .redirectError(device);
      builder.environment().putAll(environment);
      return new TestTerminal(person, builder.start());
    } catch (IOException | RuntimeException e) {
      person.close();
      throw e;
    }
  }

  private static int unlock(Sys sys, Fd person) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment number = arena.allocate(JAVA_INT);
      check(sys.ioctl(person.number(), TIOCSPTLCK, number));
      check(sys.ioctl(person.number(), TIOCGPTN, number));
      return number.get(JAVA_INT, 0);
    }
  }

  private static void resize(Sys sys, Fd person, int columns, int rows) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment size =
          arena.allocateFrom(JAVA_SHORT, (short) rows, (short) columns, (short) 0, (short) 0);
      check(sys.ioctl(person.number(), TIOCSWINSZ, size));
    }
  }

  private static void check(int result) {
    if (result < 0) {
      throw new AssertionError(new ErrnoException("ioctl", -result, "a new terminal"));
    }
  }

  /** Resizes the window. */
  public void resize(int columns, int rows) {
    resize(sys, person, columns, rows);
  }

  /** Types keys; Ctrl+C is the character 3. */
  public void type(String keys) {
    try (Arena arena = Arena.ofConfined()) {
      byte[] bytes = keys.getBytes(UTF_8);
      Io.write(sys, person.number(), arena.allocateFrom(JAVA_BYTE, bytes));
    }
  }

  /** Everything shown, control sequences included. */
  public String shown() {
    synchronized (shown) {
      return shown.toString(UTF_8);
    }
  }

  /** Forgets everything shown so far. */
  public void forget() {
    synchronized (shown) {
      shown.reset();
    }
  }

  /** The processes that run in it, without {@code setsid}, so that signals can be sent to them. */
  public List<ProcessHandle> programs() {
    List<ProcessHandle> below = process.descendants().toList();
    return below.isEmpty() ? List.of(process.toHandle()) : below; // setsid forks only if it must
  }

  /** Waits until the program has ended and all its output has been read; returns its exit code. */
  public int exitCode() throws InterruptedException {
    if (!process.waitFor(TestProcess.PATIENCE.toSeconds(), TimeUnit.SECONDS)) {
      throw new AssertionError("it does not end; it shows:\n" + shown());
    }
    reader.join(TestProcess.PATIENCE);
    return process.exitValue();
  }

  private void read() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment buffer = arena.allocate(BUFFER_BYTES);
      while (true) {
        long count = Io.read(sys, person.number(), buffer);
        if (count <= 0) {
          return; // EIO: no process has the terminal open any more
        }
        synchronized (shown) {
          shown.writeBytes(buffer.asSlice(0, count).toArray(JAVA_BYTE));
        }
      }
    }
  }

  @Override
  public void close() {
    List<ProcessHandle> descendants = programs();
    process.destroyForcibly();
    descendants.forEach(ProcessHandle::destroyForcibly);
    boolean interrupted = false;
    while (reader.isAlive()) { // it uses the descriptor, whose number must not be reused yet
      try {
        reader.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    person.close();
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
