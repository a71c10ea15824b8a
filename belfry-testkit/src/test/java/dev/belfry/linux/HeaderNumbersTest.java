package dev.belfry.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.StructLayout;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Structures, numbers and room on the architecture this runs on, against what gcc makes of the
 * machine's headers.
 */
final class HeaderNumbersTest {
  private static final String HEADERS =
      """
      #include <asm/termbits.h>
      #include <errno.h>
      #include <fcntl.h>
      #include <limits.h>
      #include <linux/futex.h>
      #include <linux/io_uring.h>
      #include <linux/openat2.h>
      #include <netinet/in.h>
      #include <netinet/tcp.h>
      #include <poll.h>
      #include <pthread.h>
      #include <sched.h>
      #include <signal.h>
      #include <spawn.h>
      #include <stddef.h>
      #include <stdio.h>
      #include <sys/epoll.h>
      #include <sys/eventfd.h>
      #include <sys/file.h>
      #include <sys/ioctl.h>
      #include <sys/mman.h>
      #include <sys/prctl.h>
      #include <sys/resource.h>
      #include <sys/signalfd.h>
      #include <sys/socket.h>
      #include <sys/stat.h>
      #include <sys/syscall.h>
      #include <sys/timerfd.h>
      #include <sys/uio.h>
      #include <sys/un.h>
      #include <sys/wait.h>
      """;

  @TempDir Path directory;

  @Test
  void everyFieldOfEveryStructIsWhereGccHasIt() throws Exception {
    Arch arch = Arch.current();
    var ours = new LinkedHashMap<String, Long>();
    struct(ours, "struct epoll_event", "", EpollEvents.layout(arch));
    struct(ours, "struct stat", "st_", FileStatus.layout(arch));
    struct(ours, "struct signalfd_siginfo", "ssi_", SignalRecords.LAYOUT);
    struct(ours, "struct futex_waitv", "", FutexSet.LAYOUT);
    struct(ours, "struct robust_list_head", "", RobustHold.HEAD);
    struct(ours, "struct msghdr", "msg_", Message.MSGHDR);
    struct(ours, "struct cmsghdr", "cmsg_", Message.CMSGHDR);
    struct(ours, "struct flock", "l_", FileLocks.FLOCK);
    struct(ours, "struct pollfd", "", PollSet.LAYOUT);
    struct(ours, "struct termios", "c_", Terminal.TERMIOS);
    struct(ours, "struct winsize", "ws_", Terminal.WINSIZE);
    struct(ours, "siginfo_t", "si_", PidFd.SIGINFO);
    struct(ours, "struct open_how", "", OpenFile.OPEN_HOW);
    struct(ours, "struct io_uring_params", "", UringStructs.PARAMS);
    struct(ours, "struct io_sqring_offsets", "", UringStructs.SQ_OFFSETS);
    struct(ours, "struct io_cqring_offsets", "", UringStructs.CQ_OFFSETS);
    struct(ours, "struct io_uring_sqe", "", UringStructs.SQE);
    struct(ours, "struct io_uring_cqe", "", UringStructs.CQE);
    struct(ours, "struct io_uring_getevents_arg", "", UringStructs.GETEVENTS_ARG);
    struct(ours, "struct io_uring_rsrc_update", "", UringStructs.RSRC_UPDATE);
    struct(ours, "struct io_uring_buf_reg", "", UringStructs.BUF_REG);
    struct(ours, "struct io_uring_buf", "", UringStructs.BUF);

    assertThat(ours).hasSizeGreaterThan(100).containsExactlyEntriesOf(askGcc(ours.keySet()));
  }

  @Test
  void everyConstantHasTheNumberOfTheHeaders() throws Exception {
    var ours = new LinkedHashMap<String, Long>();
    for (Field constant : constants()) {
      CNames.of(constant).ifPresent(name -> ours.put(typed(constant, name), value(constant)));
    }
    for (Sockets.Type type : Sockets.Type.values()) {
      ours.put(cNameOf(type), (long) type.number());
    }
    Field number = ResourceLimit.class.getDeclaredField("number");
    ours.put("RLIMIT_CORE", value(number, ResourceLimit.CORE));
    ours.put("RLIMIT_NOFILE", value(number, ResourceLimit.DESCRIPTORS));
    ours.put("RLIMIT_AS", value(number, ResourceLimit.ADDRESS_SPACE));
    ours.put("RLIMIT_SIGPENDING", value(number, ResourceLimit.PENDING_SIGNALS));
    ours.put("O_DIRECT", (long) OpenFlags.direct());
    ours.put("O_DIRECTORY", (long) OpenFlags.directory());
    ours.put("O_NOFOLLOW", (long) OpenFlags.noFollow());
    ours.put("sizeof(struct itimerspec)", 2 * Timespec.BYTES);
    ours.put("sizeof(struct rlimit)", 16L);
    ours.put("sizeof(struct linger)", 8L);

    assertThat(ResourceLimit.values()).hasSize(4);
    assertThat(ours).hasSizeGreaterThan(180).containsExactlyEntriesOf(askGcc(ours.keySet()));
  }

  @Test
  void everyCallByNumberHasItsNumber() throws Exception {
    var ours = new LinkedHashMap<String, Long>();
    for (Method method : Sys.class.getMethods()) {
      Syscall syscall = method.getAnnotation(Syscall.class);
      if (syscall != null) {
        boolean own = Arch.current() == Arch.AARCH64 && syscall.aarch64() >= 0;
        long number = own ? syscall.aarch64() : syscall.value();
        ours.put("SYS_" + snakeCase(method.getName()), number);
      }
    }

    assertThat(ours).hasSize(10).containsExactlyEntriesOf(askGcc(ours.keySet()));
  }

  /** From arch/x86/entry/syscalls/syscall_64.tbl and scripts/syscall.tbl for aarch64. */
  @Test
  void onlyCallsThatAreOldHaveAnotherNumberOnAarch64() throws Exception {
    for (Method method : Sys.class.getMethods()) {
      Syscall syscall = method.getAnnotation(Syscall.class);
      if (syscall != null) {
        if (method.getName().equals("futex")) {
          assertThat(syscall.value()).isEqualTo(202);
          assertThat(syscall.aarch64()).isEqualTo(98);
        } else if (method.getName().equals("setRobustList")) {
          assertThat(syscall.value()).isEqualTo(273);
          assertThat(syscall.aarch64()).isEqualTo(99);
        } else {
          assertThat(syscall.value()).as(method.getName()).isGreaterThanOrEqualTo(424);
          assertThat(syscall.aarch64()).as(method.getName()).isEqualTo(-1);
        }
      }
    }
  }

  @Test
  void whatTheCLibraryKeepsToItselfFitsIntoTheRoomForIt() throws Exception {
    var sizes =
        askGcc(
            List.of(
                "sizeof(pthread_mutex_t)",
                "sizeof(pthread_mutexattr_t)",
                "sizeof(posix_spawnattr_t)",
                "sizeof(posix_spawn_file_actions_t)",
                "sizeof(struct sigaction)",
                "sizeof(struct sockaddr_un)",
                "sizeof(cpu_set_t)"));

    assertThat(sizes).containsEntry("sizeof(pthread_mutex_t)", RobustMutex.bytes());
    assertRoom(sizes, "pthread_mutexattr_t", RobustMutex.class, "ATTRIBUTE_BYTES");
    assertRoom(sizes, "posix_spawnattr_t", Spawn.class, "OPAQUE_BYTES");
    assertRoom(sizes, "posix_spawn_file_actions_t", Spawn.class, "OPAQUE_BYTES");
    assertRoom(sizes, "struct sigaction", SignalActions.class, "SIGACTION_BYTES");
    assertRoom(sizes, "struct sockaddr_un", SocketAddresses.class, "MAX_BYTES");
    assertRoom(sizes, "cpu_set_t", Affinity.class, "MASK_BYTES");
  }

  private static void assertRoom(
      Map<String, Long> sizes, String type, Class<?> owner, String constant) throws Exception {
    long room = value(owner.getDeclaredField(constant));
    assertThat(sizes.get("sizeof(" + type + ")")).as(type).isBetween(1L, room);
  }

  /** Offset and size of each named field and the size of the whole, as C would ask for them. */
  private static void struct(
      Map<String, Long> into, String type, String prefix, StructLayout layout) {
    into.put("sizeof(%s)".formatted(type), layout.byteSize());
    for (MemoryLayout member : layout.memberLayouts()) {
      member
          .name()
          .ifPresent(
              name -> {
                String field = name.equals("reserved") ? "__reserved" : prefix + name;
                into.put(
                    "offsetof(%s, %s)".formatted(type, field),
                    layout.byteOffset(PathElement.groupElement(name)));
                into.put("sizeof(((%s *)0)->%s)".formatted(type, field), member.byteSize());
              });
    }
  }

  /** What each expression is worth, by a program that prints them all. */
  private Map<String, Long> askGcc(Iterable<String> expressions)
      throws IOException, InterruptedException {
    var source = new StringBuilder(HEADERS).append("int main(void) {\n");
    for (String expression : expressions) {
      source.append("  printf(\"%lld\\n\", (long long)(").append(expression).append("));\n");
    }
    Path program = CProgram.compile(directory, "numbers", source.append("}\n").toString());
    var answers = new LinkedHashMap<String, Long>();
    try (TestProcess numbers = TestProcess.start(program.toString())) {
      for (String expression : expressions) {
        answers.put(expression, Long.parseLong(numbers.line()));
      }
      assertThat(numbers.exitCode()).isZero();
    }
    return answers;
  }

  /** Flags with the highest bit are unsigned in C and negative in Java. */
  private static String typed(Field constant, String name) {
    return constant.getType() == int.class ? "(int)(" + name + ")" : name;
  }

  private static String cNameOf(Sockets.Type type) {
    return switch (type) {
      case STREAM -> "SOCK_STREAM";
      case DATAGRAM -> "SOCK_DGRAM";
      case SEQUENCED_PACKETS -> "SOCK_SEQPACKET";
    };
  }

  private static String snakeCase(String name) {
    return name.replaceAll("([A-Z])", "_$1").toLowerCase(Locale.ROOT);
  }

  /** The static final numbers of all classes of the package. */
  private static List<Field> constants() throws IOException, URISyntaxException {
    var constants = new ArrayList<Field>();
    for (Class<?> type : classes()) {
      for (Field field : type.getDeclaredFields()) {
        boolean number =
            field.getType() == int.class
                || field.getType() == long.class
                || field.getType() == short.class;
        int modifiers = field.getModifiers();
        if (number
            && Modifier.isStatic(modifiers)
            && Modifier.isFinal(modifiers)
            && !field.isSynthetic()
            && !field.getName().equals("serialVersionUID")) {
          constants.add(field);
        }
      }
    }
    return constants;
  }

  private static List<Class<?>> classes() throws IOException, URISyntaxException {
    Path place = Path.of(Sys.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (Files.isDirectory(place)) {
      return classes(place.resolve("dev/belfry/linux"));
    }
    try (FileSystem jar = FileSystems.newFileSystem(place)) {
      return classes(jar.getPath("dev/belfry/linux"));
    }
  }

  private static List<Class<?>> classes(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
          .sorted()
          .map(file -> load("dev.belfry.linux." + file.substring(0, file.length() - 6)))
          .collect(Collectors.toList());
    }
  }

  private static Class<?> load(String name) {
    try {
      return Class.forName(name, false, Sys.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new AssertionError(e);
    }
  }

  private static long value(Field constant) {
    return value(constant, null);
  }

  private static long value(Field field, @Nullable Object of) {
    try {
      field.setAccessible(true);
      return ((Number) field.get(of)).longValue();
    } catch (IllegalAccessException e) {
      throw new AssertionError(e);
    }
  }
}
