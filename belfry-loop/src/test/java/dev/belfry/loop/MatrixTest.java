package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.SysTap;
import java.io.IOException;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.EnumSource;

/** The whole suite runs on every backend. */
final class MatrixTest {

  // r[verify loop.test.matrix] r[verify loop.backend.surface]
  @Test
  void theParametersOfTheSuiteAreTheListOfBackends() {
    EnumSource source = EveryBackend.class.getAnnotation(EnumSource.class);
    assertThat(source.value()).isEqualTo(Backend.class);
    assertThat(source.names()).isEmpty(); // none is excluded
    assertThat(Arrays.stream(Backend.values()).map(Backend::label))
        .containsExactly("epoll", "epoll-timerfd", "io_uring");
  }

  // r[verify loop.backend.surface]
  @EveryBackend
  void theOneInterfaceIsAllThatTheLoopKnowsOfABackend(Backend backend) throws IOException {
    try (EventLoop loop = EventLoop.open(backend)) {
      assertThat(loop.driver.backend()).isEqualTo(backend);
      assertThat(Stream.of(EventLoop.class, LoopCore.class).map(Class::getDeclaredFields))
          .flatMap(Arrays::asList)
          .anyMatch(field -> field.getType() == Driver.class)
          .noneMatch(field -> EpollDriver.class.isAssignableFrom(field.getType()))
          .noneMatch(field -> UringDriver.class.isAssignableFrom(field.getType()));
    }
  }

  // r[verify loop.test.matrix]
  @EveryBackend
  void aTestOfABackendThatIsNotThereFailsAndIsNotSkipped(Backend backend) {
    SysTap tap = LoopSupport.tap();
    for (String call : new String[] {"epollCreate1", "ioUringSetup"}) {
      tap.fail(call, Errno.ENOSYS);
    }
    assertThatExceptionOfType(ErrnoException.class) // not one that skips the test
        .isThrownBy(() -> LoopSupport.open(backend, tap))
        .satisfies(e -> assertThat(e.is(Errno.ENOSYS)).isTrue());
  }
}
