package dev.belfry.bench.ipc;

import dev.belfry.bench.harness.ContenderMain;
import dev.belfry.bench.harness.Pinning;
import dev.belfry.linux.Futex;
import dev.belfry.linux.PollSet;
import dev.belfry.linux.Sys;
import java.io.EOFException;
import java.nio.file.Path;
import java.util.Arrays;

/**
 * One of a contender's two processes. {@code echo} answers and {@code sink} discards; {@code ping}
 * and {@code source} answer each line {@code SECONDS} with the nanoseconds of a round trip, the
 * median of many short bursts, or with messages per second.
 */
public final class IpcMain {
  private static final int MAX_BURSTS = 200_000;
  private static final int SENT_AT_ONCE = 1024;
  private static final int STANDARD_INPUT = 0;

  private final IpcEnd end;
  private long number;

  private IpcMain(IpcEnd end) {
    this.end = end;
  }

  public static void main(String[] arguments) throws Exception {
    IpcContender contender = IpcContender.of(arguments[0]);
    String role = arguments[1];
    Path directory = Path.of(arguments[2]);
    int length = Integer.parseInt(arguments[3]);
    if (role.equals("echo") || role.equals("sink")) {
      Thread.ofPlatform()
          .daemon()
          .start(() -> serve(contender, role.equals("echo"), directory, length));
      ContenderMain.awaitEnd();
    } else {
      Thread.ofPlatform().daemon().start(IpcMain::endWithInput);
      Pinning.FIRST.stay();
      var main = new IpcMain(contender.active(directory, length, role.equals("ping")));
      int burst = contender == IpcContender.BELFRY_SLEEP ? 20 : 200;
      ContenderMain.serve(
          question -> {
            long nanos = (long) (Double.parseDouble(question) * 1e9);
            return String.valueOf(
                role.equals("ping") ? main.ping(nanos, burst) : main.source(nanos));
          });
    }
    System.exit(0); // whatever other threads of the contender still do
  }

  /** Ends with the input even while waiting for the other process, which may have ended first. */
  private static void endWithInput() {
    var input = new PollSet(Sys.forAnyThread(), 1);
    input.set(0, STANDARD_INPUT, 0); // no event but a hang-up
    input.await(Futex.FOREVER);
    Runtime.getRuntime().halt(0);
  }

  private static void serve(IpcContender contender, boolean echo, Path directory, int length) {
    try {
      Pinning.LAST.stay();
      IpcEnd end = contender.passive(directory, length, echo, () -> ContenderMain.ready(""));
      long expected = 0;
      while (true) {
        if (echo) {
          long number = end.receive();
          IpcEnd.check(number, expected++);
          end.send(number);
        } else {
          expected = end.receiveSome(expected);
        }
      }
    } catch (EOFException over) {
      // The other process has ended; so will this one.
    } catch (Exception e) {
      e.printStackTrace();
      System.exit(1);
    }
  }

  private double ping(long nanos, int burst) throws Exception {
    double[] bursts = new double[MAX_BURSTS];
    int count = 0;
    long until = System.nanoTime() + nanos;
    while (count < MAX_BURSTS && (System.nanoTime() - until < 0 || count == 0)) {
      long began = System.nanoTime();
      for (int i = 0; i < burst; i++) {
        end.send(number);
        IpcEnd.check(end.receive(), number);
        number++;
      }
      bursts[count++] = (double) (System.nanoTime() - began) / burst;
    }
    Arrays.sort(bursts, 0, count);
    return bursts[count / 2];
  }

  private double source(long nanos) throws Exception {
    long first = number;
    long began = System.nanoTime();
    long now;
    do {
      for (int i = 0; i < SENT_AT_ONCE; i++) {
        end.send(number++);
      }
      now = System.nanoTime();
    } while (now - began < nanos);
    end.flush();
    return (number - first) * 1e9 / (now - began);
  }
}
