package dev.belfry.linux;

import static dev.belfry.linux.Calls.call;
import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import org.jspecify.annotations.Nullable;

/** Terminals: their size, and how they deliver keys ({@code ioctl_tty(2)}). */
public final class Terminal {
  /**
   * The result of TIOCGWINSZ:
   *
   * <pre>{@code
   * struct winsize { unsigned short ws_row, ws_col, ws_xpixel, ws_ypixel; };
   * }</pre>
   */
  static final StructLayout WINSIZE =
      MemoryLayout.structLayout(
          JAVA_SHORT.withName("row"),
          JAVA_SHORT.withName("col"),
          JAVA_SHORT.withName("xpixel"),
          JAVA_SHORT.withName("ypixel"));

  /**
   * The result of TCGETS, which is not the C library's struct of that name:
   *
   * <pre>{@code
   * struct termios {
   *   tcflag_t c_iflag, c_oflag, c_cflag, c_lflag; cc_t c_line; cc_t c_cc[19];
   * };
   * }</pre>
   */
  static final StructLayout TERMIOS =
      MemoryLayout.structLayout(
          JAVA_INT.withName("iflag"),
          JAVA_INT.withName("oflag"),
          JAVA_INT.withName("cflag"),
          JAVA_INT.withName("lflag"),
          JAVA_BYTE.withName("line"),
          MemoryLayout.sequenceLayout(19, JAVA_BYTE).withName("cc"));

  private static final long TCGETS = 0x5401;
  private static final long TCSETS = 0x5402;
  private static final long TCSETSW = 0x5403;
  private static final long TIOCGWINSZ = 0x5413;

  private static final int ICANON = 0x2;
  private static final int ECHO = 0x8;
  private static final int VQUIT = 1;
  private static final int VTIME = 5;
  private static final int VMIN = 6;
  private static final int VSUSP = 10;

  private static final long LFLAG = TERMIOS.byteOffset(PathElement.groupElement("lflag"));
  private static final long CC = TERMIOS.byteOffset(PathElement.groupElement("cc"));

  private final Sys sys;
  private final int fd;
  private final byte[] before;

  private Terminal(Sys sys, int fd, byte[] before) {
    this.sys = sys;
    this.fd = fd;
    this.before = before;
  }

  /**
   * The size in characters; zero where it is unknown.
   *
   * @param columns the number of characters in a line
   * @param rows the number of lines
   */
  public record Size(int columns, int rows) {}

  /** The size of a terminal, or null if the descriptor is not a terminal. */
  public static @Nullable Size size(Sys sys, int fd) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment size = arena.allocate(WINSIZE);
      call("ioctl", "TIOCGWINSZ", () -> sys.ioctl(fd, TIOCGWINSZ, size));
      return new Size(
          Short.toUnsignedInt(
              size.get(JAVA_SHORT, WINSIZE.byteOffset(PathElement.groupElement("col")))),
          Short.toUnsignedInt(
              size.get(JAVA_SHORT, WINSIZE.byteOffset(PathElement.groupElement("row")))));
    } catch (ErrnoException e) {
      if (e.is(Errno.ENOTTY)) {
        return null;
      }
      throw e;
    }
  }

  /**
   * Switches to delivering keys one by one as they are typed, without echo. Ctrl+C still
   * interrupts. The suspend and quit keys are disabled, because they would leave the terminal in
   * this state.
   *
   * @return the terminal, which remembers its previous state
   */
  public static Terminal keyByKey(Sys sys, int fd) throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment termios = arena.allocate(TERMIOS);
      call("ioctl", "TCGETS", () -> sys.ioctl(fd, TCGETS, termios));
      byte[] before = termios.toArray(JAVA_BYTE);
      termios.set(JAVA_INT, LFLAG, termios.get(JAVA_INT, LFLAG) & ~(ICANON | ECHO));
      termios.set(JAVA_BYTE, CC + VMIN, (byte) 1);
      termios.set(JAVA_BYTE, CC + VTIME, (byte) 0);
      termios.set(JAVA_BYTE, CC + VSUSP, (byte) 0);
      termios.set(JAVA_BYTE, CC + VQUIT, (byte) 0);
      call("ioctl", "TCSETSW", () -> sys.ioctl(fd, TCSETSW, termios));
      return new Terminal(sys, fd, before);
    }
  }

  /**
   * Restores the previous state at once, without waiting for output, which could block forever on a
   * terminal that accepts none. May be called again, and on any thread.
   */
  public void restore() throws ErrnoException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment termios = arena.allocate(TERMIOS);
      MemorySegment.copy(before, 0, termios, JAVA_BYTE, 0, before.length);
      call("ioctl", "TCSETS", () -> sys.ioctl(fd, TCSETS, termios));
    }
  }
}
