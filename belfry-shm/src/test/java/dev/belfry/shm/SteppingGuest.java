package dev.belfry.shm;

import dev.belfry.linux.Spawn;
import dev.belfry.linux.Sys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;

/**
 * A guest that takes one step of its life for each line it reads, and says one line when it has
 * taken it, so that a test can kill it between any two. A guest in another language can take the
 * same steps:
 *
 * <pre>
 *   attach              claims the entry of its ticket, or walks in       attached
 *   send ID BYTES       sends a request, if possible at once              SENT, RING_FULL, ...
 *   block ID BYTES      says "blocking", then sends, waiting if need be   SENT, OVER, ...
 *   write BYTES         takes a slot and writes into it, no more          written
 *   stage ID BYTES      writes slot and descriptor, publishes nothing     staged
 *   publish             publishes what was staged                         published
 *   receive             waits for a message                               REQUEST ID BYTES
 *   wait                says "waiting", then waits for a message          REQUEST ID BYTES
 *   echo                says "echoing", then answers all to the end       over END
 *   forge               writes a head that cannot be                      forged
 *   goodbye             sets Goodbye, and does not go on                  left
 *   hold                starts a process that holds the bell's end too    held
 *   exec                becomes another program, which sleeps
 *   detach              leaves properly                                   detached
 *   exit CODE           ends the process
 * </pre>
 *
 * Byte i of a payload is {@code (byte) (id * 31 + i * 7)}.
 */
final class SteppingGuest {
  private static final long PATIENCE_NANOS = 60_000_000_000L;

  /** The number that a host gives the bell in its children. */
  private static final int BELL = 3;

  private static final String HUB_PATH = "--hub-path=";

  private final ShmGuest guest;

  private SteppingGuest(ShmGuest guest) {
    this.guest = guest;
  }

  public static void main(String[] arguments) throws Exception {
    var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println("started");
    SteppingGuest stepping = null;
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      String[] words = line.split(" ", -1);
      if (words[0].equals("exit")) {
        System.exit(Integer.parseInt(words[1]));
      }
      try {
        if (words[0].equals("attach")) {
          stepping = new SteppingGuest(attach(arguments));
          System.out.println("attached");
        } else if (stepping != null) {
          System.out.println(stepping.step(words));
        }
      } catch (IOException | ShmException e) {
        System.out.println("failed " + e.getMessage());
      }
    }
  }

  private static ShmGuest attach(String[] arguments) throws IOException {
    boolean ticket = arguments.length != 1 || !arguments[0].startsWith(HUB_PATH);
    return ticket
        ? ShmGuest.attach(Sys.forAnyThread(), arguments, WaitStrategy.ADAPTIVE)
        : ShmGuest.walkIn(
            Sys.forAnyThread(),
            Path.of(arguments[0].substring(HUB_PATH.length())),
            WaitStrategy.ADAPTIVE);
  }

  private String step(String[] words) throws IOException {
    return switch (words[0]) {
      case "send" -> send(words, System.nanoTime()).toString();
      case "block" -> {
        System.out.println("blocking");
        yield send(words, deadline()).toString();
      }
      case "write" -> write(Integer.parseInt(words[1]));
      case "stage" -> {
        byte[] bytes = payload(words);
        guest
            .link()
            .outbox()
            .stage(MessageKind.REQUEST, Long.parseLong(words[1]), 0, bytes, 0, bytes.length);
        yield "staged";
      }
      case "publish" -> {
        guest.link().outbox().publish();
        yield "published";
      }
      case "receive" -> receive();
      case "wait" -> {
        System.out.println("waiting");
        yield receive();
      }
      case "echo" -> echo();
      case "forge" -> forge();
      case "goodbye" -> {
        Segment segment = guest.segment();
        segment.peers().leave(guest.peerId(), segment.peers().epoch(guest.peerId()));
        yield "left";
      }
      case "hold" -> {
        Spawn.command("sleep", "300").pass(BELL).start(Sys.forAnyThread()).close();
        yield "held";
      }
      case "exec" -> exec();
      case "detach" -> {
        guest.detach(Duration.ofSeconds(60));
        yield "detached";
      }
      default -> throw new IllegalArgumentException(String.join(" ", words));
    };
  }

  private static long deadline() {
    return System.nanoTime() + PATIENCE_NANOS;
  }

  private static byte[] payload(String[] words) {
    return Sides.payload(Integer.parseInt(words[2]), Integer.parseInt(words[1]));
  }

  private SendResult send(String[] words, long deadlineNanos) {
    byte[] bytes = payload(words);
    long id = Long.parseLong(words[1]);
    return words[0].equals("send")
        ? guest.send(MessageKind.REQUEST, id, 0, bytes, 0, bytes.length)
        : guest.sendBlocking(MessageKind.REQUEST, id, 0, bytes, 0, bytes.length, deadlineNanos);
  }

  private String write(int length) {
    Segment segment = guest.segment();
    var pool = new SlotPool(segment, guest.peerId());
    long address = pool.address(pool.allocate());
    segment.memory().write(address + SegmentConfig.GENERATION_BYTES, new byte[length], 0, length);
    return "written";
  }

  private String receive() {
    var message = new Message();
    return switch (guest.receiveBlocking(message, deadline())) {
      case READY -> "%s %d %d".formatted(message.kind(), message.id(), message.length());
      case TIMEOUT -> "timeout";
      case OVER -> over();
    };
  }

  private String echo() {
    System.out.println("echoing");
    var message = new Message();
    while (guest.receiveBlocking(message, FutexWait.FOREVER) == Awaited.READY) {
      guest.sendBlocking(
          message.kind(),
          message.id(),
          message.methodId(),
          message.bytes(),
          0,
          message.length(),
          FutexWait.FOREVER);
    }
    return over();
  }

  private String over() {
    return "over " + guest.end().map(end -> end.name().toLowerCase(Locale.ROOT)).orElse("?");
  }

  private static String exec() {
    Arena arena = Arena.global();
    MemorySegment program = arena.allocateFrom("/bin/sleep");
    MemorySegment argv = arena.allocate(ValueLayout.ADDRESS, 3);
    argv.setAtIndex(ValueLayout.ADDRESS, 0, program);
    argv.setAtIndex(ValueLayout.ADDRESS, 1, arena.allocateFrom("300"));
    MemorySegment envp = arena.allocate(ValueLayout.ADDRESS);
    return "failed " + Sys.forAnyThread().execve(program, argv, envp);
  }

  private String forge() {
    Segment segment = guest.segment();
    long head = segment.layout().head(guest.peerId(), Direction.TO_HOST);
    long ring = segment.layout().ring(guest.peerId(), Direction.TO_HOST);
    segment.memory().mapping().set(ValueLayout.JAVA_INT, head, 20);
    // In the padded placement the next descriptor decides: one of the right lap and no kind.
    segment.memory().mapping().set(ValueLayout.JAVA_LONG, ring, 0x8000_0000L | 0x63);
    guest.link().outbox().ring().publish(19, 20);
    return "forged";
  }
}
