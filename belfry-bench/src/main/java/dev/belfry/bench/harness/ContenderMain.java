package dev.belfry.bench.harness;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/** The other end of a {@link ContenderProcess}, for contenders that are Java programs. */
public final class ContenderMain {
  private static final PrintStream OUT = System.out;

  private ContenderMain() {}

  /** Answers a question. */
  @FunctionalInterface
  public interface Answering {
    /** The answer, in one line. */
    String answer(String question) throws Exception;
  }

  /** Tells that the contender is up, with the port it listens at or the like. */
  public static void ready(Object detail) {
    say("READY " + detail);
  }

  /** Waits until the input ends. */
  public static void awaitEnd() throws IOException {
    while (System.in.read() >= 0) {
      // Nobody has anything to say to this contender.
    }
  }

  /**
   * Answers until the input ends. Ends the process if that happens during an answer, which nobody
   * wants any more and which may never come: what it needs of other processes may have ended first.
   */
  public static void serve(Answering answering) throws Exception {
    var questions = new LinkedBlockingQueue<Optional<String>>();
    var isAnswering = new AtomicBoolean();
    Thread.ofPlatform().daemon().start(() -> read(questions, isAnswering));
    ready("");
    Optional<String> question = questions.take();
    while (question.isPresent()) {
      isAnswering.set(true);
      say(answering.answer(question.get()));
      isAnswering.set(false);
      question = questions.take();
    }
  }

  private static void read(BlockingQueue<Optional<String>> questions, AtomicBoolean isAnswering) {
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))
        .lines()
        .map(Optional::of)
        .forEach(questions::add);
    if (isAnswering.get()) {
      Runtime.getRuntime().halt(1);
    }
    questions.add(Optional.empty());
  }

  private static void say(String line) {
    OUT.println(line);
    OUT.flush();
  }
}
