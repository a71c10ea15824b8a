package dev.belfry.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Sys;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

final class SysTapTest {
  private final SysTap tap = SysTap.over(Sys.forAnyThread());

  @Test
  void callsGoThroughAndAreCounted() {
    assertThat(tap.calls("getppid")).isZero();
    assertThat(tap.sys().getppid()).isEqualTo(Sys.forAnyThread().getppid());
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EBADF);
    assertThat(tap.calls("getppid")).isEqualTo(1);
    assertThat(tap.calls("close")).isEqualTo(1);
  }

  @Test
  void theNthCallFailsAndNoOther() {
    tap.sys().close(-1);
    tap.failAt("close", 2, Errno.EIO);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EBADF);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EIO);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EBADF);
    assertThat(tap.calls("close")).isEqualTo(4);
  }

  @Test
  void theFirstCallsFailOrAllOfThem() {
    tap.failFirst("close", 2, Errno.EINTR);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EINTR);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EINTR);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EBADF);

    tap.fail("close", Errno.EIO);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EIO);
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EIO);
    tap.pass("close");
    assertThat(tap.sys().close(-1)).isEqualTo(-Errno.EBADF);
  }

  @Test
  void aScriptSeesTheArgumentsAndMayAnswer() {
    tap.script(
        "mmap",
        (nth, arguments) ->
            nth == 1 ? OptionalLong.of((long) arguments[1] << 33) : OptionalLong.empty());
    assertThat(tap.sys().mmap(0, 3, 0, 0, -1, 0)).isEqualTo(3L << 33);
    assertThat(tap.sys().mmap(0, 0, 0, 1, -1, 0)).isEqualTo(-Errno.EBADF);
  }

  @Test
  void aNameThatIsNoCallIsRefused() {
    assertThatThrownBy(() -> tap.failAt("epoll_wait", 1, 1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no system call is named epoll_wait");
    assertThatThrownBy(() -> tap.calls("x")).isInstanceOf(IllegalArgumentException.class);
  }
}
