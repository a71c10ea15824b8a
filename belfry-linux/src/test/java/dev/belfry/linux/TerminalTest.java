package dev.belfry.linux;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A terminal whose other end, with the keyboard and the screen, belongs to the test. */
class TerminalTest {
  private static final Sys SYS = Sys.forAnyThread();
  private static final long TIOCSWINSZ = 0x5414;
  private static final long TIOCGPTN = 0x80045430L;
  private static final long TIOCSPTLCK = 0x40045431L;
  private static final int FLAGS = OpenFlags.READ_WRITE | OpenFlags.NO_CONTROLLING_TERMINAL;

  private final Arena arena = Arena.ofConfined();
  private Fd person;
  private Fd program;

  @BeforeEach
  void openPair() throws ErrnoException {
    person = OpenFile.open(SYS, Path.of("/dev/ptmx"), FLAGS | OpenFlags.NON_BLOCKING, 0);
    MemorySegment number = arena.allocate(JAVA_INT);
    assertThat(SYS.ioctl(person.number(), TIOCSPTLCK, number)).as("unlock").isZero();
    assertThat(SYS.ioctl(person.number(), TIOCGPTN, number)).isZero();
    Path path = Path.of("/dev/pts/" + number.get(JAVA_INT, 0));
    program = OpenFile.open(SYS, path, FLAGS | OpenFlags.NON_BLOCKING, 0);
  }

  @AfterEach
  void close() {
    program.close();
    person.close();
    arena.close();
  }

  @Test
  void itKnowsItsSize() throws ErrnoException {
    MemorySegment size =
        arena.allocateFrom(JAVA_SHORT, (short) 24, (short) 80, (short) 0, (short) 0);
    assertThat(SYS.ioctl(person.number(), TIOCSWINSZ, size)).isZero();

    assertThat(Terminal.size(SYS, program.number())).isEqualTo(new Terminal.Size(80, 24));
  }

  @Test
  void whatIsNoTerminalHasNoSize() throws ErrnoException {
    try (Fd file = OpenFile.open(SYS, Path.of("/dev/null"), OpenFlags.READ_ONLY, 0)) {
      assertThat(Terminal.size(SYS, file.number())).isNull();
    }
  }

  @Test
  void keysComeOneByOneAndUnseenUntilItIsRestored() throws ErrnoException {
    Terminal terminal = Terminal.keyByKey(SYS, program.number());
    type("q");
    assertThat(read(program)).isEqualTo("q");
    assertThat(isSilent(person)).as("no echo").isTrue();

    terminal.restore();
    terminal.restore();
    type("q");
    assertThat(read(person)).as("echo").isEqualTo("q");
    assertThat(isSilent(program)).as("before the end of the line").isTrue();
    type("\n");
    assertThat(read(program)).isEqualTo("q\n");
  }

  private void type(String keys) {
    MemorySegment bytes = arena.allocateFrom(keys, US_ASCII);
    assertThat(Io.write(SYS, person.number(), bytes.asSlice(0, keys.length())))
        .isEqualTo(keys.length());
  }

  private String read(Fd from) {
    assertThat(awaitInput(from, 10_000)).isTrue();
    MemorySegment room = arena.allocate(100);
    long count = Io.read(SYS, from.number(), room);
    return new String(room.asSlice(0, count).toArray(JAVA_BYTE), US_ASCII);
  }

  private static boolean isSilent(Fd from) {
    return !awaitInput(from, 50);
  }

  private static boolean awaitInput(Fd from, int millis) {
    var poll = new PollSet(SYS, 1);
    poll.set(0, from.number(), PollSet.IN);
    return poll.await(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis)) == 1;
  }
}
