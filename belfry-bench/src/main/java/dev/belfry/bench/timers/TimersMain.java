package dev.belfry.bench.timers;

import dev.belfry.bench.harness.ContenderMain;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * The process of a contender. Answers {@code WORKLOAD NANOS} with operations per second, and {@code
 * lateness COUNT DELAY_NANOS} with how late each timer was. Each question gets a fresh set of
 * timers in the same, warm JVM.
 */
public final class TimersMain {
  private static final int MILLION = 1_000_000;

  private TimersMain() {}

  public static void main(String[] arguments) throws Exception {
    TimerContender contender = TimerContender.of(arguments[0]);
    ContenderMain.serve(question -> answer(contender, question.split(" ")));
    System.exit(0);
  }

  private static String answer(TimerContender contender, String[] question) throws Exception {
    long number = Long.parseLong(question[1]);
    try (Timers timers = contender.open()) {
      return switch (Workload.of(question[0])) {
        case ARM_CANCEL -> show(timers.armAndCancel(number));
        case ARM_FIRE -> show(timers.armAndFire(number));
        case MILLION_PENDING -> {
          timers.fill(MILLION);
          yield show(timers.armAndCancel(number));
        }
        case LATENESS ->
            Arrays.stream(timers.lateness((int) number, Long.parseLong(question[2])))
                .mapToObj(String::valueOf)
                .collect(Collectors.joining(" "));
      };
    }
  }

  private static String show(Timers.Pace pace) {
    return String.valueOf(pace.perSecond());
  }
}
