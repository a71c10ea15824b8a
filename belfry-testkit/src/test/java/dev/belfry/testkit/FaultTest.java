package dev.belfry.testkit;

import static dev.belfry.linux.Errno.EAGAIN;
import static dev.belfry.linux.Errno.EINTR;
import static dev.belfry.linux.Errno.EMFILE;
import static dev.belfry.linux.Errno.ENOMEM;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Sys;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every facility when its system call fails: the right result, and nothing left behind. */
final class FaultTest {
  private final SysTap tap = SysTap.over(Sys.forAnyThread());
  private Descriptors before;
  private long childrenBefore;

  @BeforeEach
  void look() {
    before = Descriptors.now();
    childrenBefore = ProcessHandle.current().children().count();
  }

  @AfterEach
  void nothingIsLeft() throws Exception {
    assertThat(before.openedSince()).as("descriptors").isEmpty();
    assertThat(ProcessHandle.current().children().count()).as("children").isEqualTo(childrenBefore);
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      assertThat(maps.filter(line -> line.contains("/memfd:fault"))).as("mappings").isEmpty();
    }
  }

  static Stream<Arguments> interrupted() {
    return Operations.all().map(Arguments::of);
  }

  static Stream<Arguments> failed() {
    return Operations.all()
        .flatMap(
            operation ->
                Stream.of(EAGAIN, EMFILE, ENOMEM)
                    .map(errno -> arguments(operation, Errno.name(errno), errno)));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("interrupted")
  void anInterruptedCallIsRepeatedOrReported(Operation operation) throws Exception {
    long expected = operation.body().run(tap.sys());
    long calls = tap.calls(operation.call());
    assertThat(calls).as("it makes the call").isGreaterThanOrEqualTo(operation.which());

    if (operation.policy().repeats) {
      // Three in a row, starting with the call in question.
      int which = operation.which();
      tap.script(
          operation.call(),
          (nth, _) ->
              nth >= which && nth < which + 3 ? OptionalLong.of(-EINTR) : OptionalLong.empty());
      assertThat(operation.body().run(tap.sys())).isEqualTo(expected);
      assertThat(tap.calls(operation.call())).isEqualTo(calls + calls + 3);
    } else {
      tap.failAt(operation.call(), operation.which(), EINTR);
      assertReported(operation, EINTR);
    }
  }

  @ParameterizedTest(name = "{0}: {1}")
  @MethodSource("failed")
  void aFailedCallIsReported(Operation operation, String name, int errno) throws Exception {
    tap.failAt(operation.call(), operation.which(), errno);
    if (operation.policy() == Operation.Policy.LOCKS && errno == EAGAIN) {
      assertThat(operation.body().run(tap.sys())).as(name).isZero();
    } else {
      assertReported(operation, errno);
    }
  }

  private void assertReported(Operation operation, int errno) throws Exception {
    if (operation.policy().throwing) {
      assertThatThrownBy(() -> operation.body().run(tap.sys()))
          .isInstanceOfSatisfying(
              ErrnoException.class,
              e -> {
                assertThat(e.call()).isEqualTo(operation.symbol());
                assertThat(e.errno()).isEqualTo(errno);
                assertThat(e).hasMessageContaining(Errno.name(errno));
              });
    } else {
      assertThat(operation.body().run(tap.sys())).isEqualTo(-errno);
    }
    if (operation.what().startsWith("Spawn")) {
      assertBalanced("posixSpawnFileActionsInit", "posixSpawnFileActionsDestroy", operation);
      assertBalanced("posixSpawnattrInit", "posixSpawnattrDestroy", operation);
    } else if (operation.what().startsWith("RobustMutex")) {
      assertBalanced("pthreadMutexattrInit", "pthreadMutexattrDestroy", operation);
    }
  }

  /** Whatever the C library was asked to create was destroyed too, unless that very call failed. */
  private void assertBalanced(String make, String destroy, Operation operation) {
    long failed = operation.call().equals(make) ? 1 : 0;
    assertThat(tap.calls(destroy)).as(destroy).isEqualTo(tap.calls(make) - failed);
  }

  /** Calls that are tested elsewhere, that cannot fail, or that no facility makes. */
  private static final Set<String> NO_ROW =
      Set.of(
          "close",
          "connect",
          "execve",
          "munmap",
          "sigaction",
          "pthreadMutexConsistent",
          "pthreadMutexUnlock",
          "getppid",
          "gettid",
          "schedYield",
          "pthreadMutexattrDestroy",
          "posixSpawnattrDestroy",
          "posixSpawnFileActionsDestroy",
          "poll",
          "posixSpawnattrSetpgroup",
          "ioUringSetup",
          "ioUringEnter",
          "ioUringRegister");

  @Test
  void noCallIsForgottenHere() {
    Set<String> declared =
        Arrays.stream(Sys.class.getMethods())
            .filter(method -> Modifier.isAbstract(method.getModifiers()))
            .map(Method::getName)
            .collect(Collectors.toSet());
    Set<String> tried =
        Stream.concat(NO_ROW.stream(), Operations.all().map(Operation::call))
            .collect(Collectors.toSet());
    assertThat(tried).isEqualTo(declared);
  }
}
