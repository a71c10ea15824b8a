package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ErrnoTest {
  @ParameterizedTest
  @CsvSource({
    "1, EPERM",
    "4, EINTR",
    "11, EAGAIN",
    "110, ETIMEDOUT",
    "131, ENOTRECOVERABLE",
    "0, errno 0",
    "999, errno 999",
    "-4, errno -4"
  })
  void everyNumberHasAName(int number, String name) {
    assertThat(Errno.name(number)).isEqualTo(name);
  }

  @Test
  void anExceptionSaysWhatWasDoneToWhatAndWhatCameOfIt() {
    var e = new ErrnoException("openat", Errno.ENOENT, Path.of("/no/such"));
    assertThat(e).hasMessage("openat(/no/such): ENOENT (No such file or directory)");
    assertThat(e.call()).isEqualTo("openat");
    assertThat(e.errno()).isEqualTo(2);
    assertThat(e.is(Errno.ENOENT)).isTrue();
    assertThat(e.is(Errno.EPERM)).isFalse();
  }

  @Test
  void anUnknownNumberIsKept() {
    assertThat(new ErrnoException("ioctl", 3999, "x"))
        .hasMessage("ioctl(x): errno 3999 (Unknown error 3999)");
  }
}
