package dev.belfry.bench.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The other end of a {@link ContenderProcess}, for contenders that are Java programs. */
public final class ContenderMain {
  private static final PrintStream OUT = System.out;

  private ContenderMain() {}

  /** Answers questions. */
  @FunctionalInterface
  public interface Answering {
    /** The answer, on one line. */
    String answer(String question) throws Exception;
  }

  /** Announces that the contender is up, with a detail such as the port it listens on. */
  public static void ready(Object detail) {
    say("READY " + detail);
  }

  /** Waits until the input ends. */
  public static void awaitEnd() throws IOException {
    while (System.in.read() >= 0) {
      // No input is expected.
    }
  }

  /** Answers until the input ends. */
  public static void serve(Answering answering) throws Exception {
    ready("");
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    String line;
    while ((line = in.readLine()) != null) {
      say(answering.answer(line));
    }
  }

  private static void say(String line) {
    OUT.println(line);
    OUT.flush();
  }
}
