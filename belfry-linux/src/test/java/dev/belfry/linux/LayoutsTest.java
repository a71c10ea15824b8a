package dev.belfry.linux;

import static dev.belfry.linux.Arch.AARCH64;
import static dev.belfry.linux.Arch.X86_64;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The structures of both architectures, compared with numbers from the kernel headers. */
final class LayoutsTest {

  /** Name, our layout, and the expected offset and size of each field, then the total size. */
  static Stream<Arguments> structs() {
    return Stream.of(
        // include/uapi/linux/eventpoll.h: packed on x86-64 only
        arguments("epoll_event, x86-64", EpollEvents.layout(X86_64), "events@0:4 data@4:8 =12"),
        arguments("epoll_event, aarch64", EpollEvents.layout(AARCH64), "events@0:4 data@8:8 =16"),
        // arch/x86/include/uapi/asm/stat.h
        arguments(
            "stat, x86-64",
            FileStatus.layout(X86_64),
            "dev@0:8 ino@8:8 nlink@16:8 mode@24:4 uid@28:4 gid@32:4 rdev@40:8 size@48:8 =144"),
        // include/uapi/asm-generic/stat.h
        arguments(
            "stat, aarch64",
            FileStatus.layout(AARCH64),
            "dev@0:8 ino@8:8 mode@16:4 nlink@20:4 uid@24:4 gid@28:4 rdev@32:8 size@48:8 =128"),
        // include/uapi/linux/signalfd.h
        arguments(
            "signalfd_siginfo",
            SignalRecords.LAYOUT,
            "signo@0:4 errno@4:4 code@8:4 pid@12:4 uid@16:4 fd@20:4 tid@24:4 band@28:4"
                + " overrun@32:4 trapno@36:4 status@40:4 int@44:4 ptr@48:8 =128"),
        // include/uapi/linux/futex.h
        arguments("futex_waitv", FutexSet.LAYOUT, "val@0:8 uaddr@8:8 flags@16:4 reserved@20:4 =24"),
        // include/linux/socket.h, struct user_msghdr and cmsghdr
        arguments(
            "msghdr",
            Message.MSGHDR,
            "name@0:8 namelen@8:4 iov@16:8 iovlen@24:8 control@32:8 controllen@40:8 flags@48:4"
                + " =56"),
        arguments("cmsghdr", Message.CMSGHDR, "len@0:8 level@8:4 type@12:4 =16"),
        // include/uapi/asm-generic/fcntl.h
        arguments("flock", FileLocks.FLOCK, "type@0:2 whence@2:2 start@8:8 len@16:8 pid@24:4 =32"),
        // include/uapi/asm-generic/termios.h and termbits.h
        arguments("winsize", Terminal.WINSIZE, "row@0:2 col@2:2 xpixel@4:2 ypixel@6:2 =8"),
        arguments(
            "termios",
            Terminal.TERMIOS,
            "iflag@0:4 oflag@4:4 cflag@8:4 lflag@12:4 line@16:1 cc@17:19 =36"),
        // include/uapi/asm-generic/poll.h
        arguments("pollfd", PollSet.LAYOUT, "fd@0:4 events@4:2 revents@6:2 =8"),
        // include/uapi/asm-generic/siginfo.h
        arguments(
            "siginfo_t",
            PidFd.SIGINFO,
            "signo@0:4 errno@4:4 code@8:4 pid@16:4 uid@20:4 status@24:4 =128"),
        // include/uapi/linux/openat2.h
        arguments("open_how", OpenFile.OPEN_HOW, "flags@0:8 mode@8:8 resolve@16:8 =24"),
        // include/uapi/linux/io_uring.h
        arguments(
            "io_uring_sqe",
            UringStructs.SQE,
            "opcode@0:1 flags@1:1 ioprio@2:2 fd@4:4 off@8:8 addr@16:8 len@24:4 rw_flags@28:4"
                + " user_data@32:8 buf_index@40:2 personality@42:2 file_index@44:4 addr3@48:8 =64"),
        arguments("io_uring_cqe", UringStructs.CQE, "user_data@0:8 res@8:4 flags@12:4 =16"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("structs")
  void everyFieldIsWhereTheKernelHasIt(String name, StructLayout layout, String expected) {
    assertThat(describe(layout)).as(name).isEqualTo(expected);
  }

  @Test
  void aMutexIsLargerOnAarch64() {
    // glibc, __SIZEOF_PTHREAD_MUTEX_T
    assertThat(RobustMutex.bytes(X86_64)).isEqualTo(40);
    assertThat(RobustMutex.bytes(AARCH64)).isEqualTo(48);
  }

  @Test
  void threeOpenFlagsHaveOtherNumbersOnAarch64() {
    // include/uapi/asm-generic/fcntl.h
    assertThat(OpenFlags.direct(X86_64)).isEqualTo(0_040_000);
    assertThat(OpenFlags.directory(X86_64)).isEqualTo(0_200_000);
    assertThat(OpenFlags.noFollow(X86_64)).isEqualTo(0_400_000);
    // arch/arm64/include/uapi/asm/fcntl.h
    assertThat(OpenFlags.direct(AARCH64)).isEqualTo(0_200_000);
    assertThat(OpenFlags.directory(AARCH64)).isEqualTo(0_040_000);
    assertThat(OpenFlags.noFollow(AARCH64)).isEqualTo(0_100_000);
  }

  @Test
  void anUnknownArchitectureIsNamed() {
    assertThat(Arch.of("amd64")).isEqualTo(X86_64);
    assertThat(Arch.of("x86_64")).isEqualTo(X86_64);
    assertThat(Arch.of("aarch64")).isEqualTo(AARCH64);
    assertThatThrownBy(() -> Arch.of("riscv64"))
        .isInstanceOf(UnsupportedOperationException.class)
        .hasMessageContaining("riscv64");
  }

  private static String describe(StructLayout layout) {
    return layout.memberLayouts().stream()
            .flatMap(member -> member.name().stream().map(name -> describe(layout, name, member)))
            .collect(Collectors.joining(" "))
        + " ="
        + layout.byteSize();
  }

  private static String describe(StructLayout layout, String name, MemoryLayout member) {
    long offset = layout.byteOffset(PathElement.groupElement(name));
    return name + "@" + offset + ":" + member.byteSize();
  }
}
