package dev.belfry.linux;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

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
import java.util.Collection;
import java.util.Collections;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Compares structures, numbers and sizes with what gcc makes of the headers: for this architecture,
 * and for the other one if a gcc for it is installed.
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

  private static final Pattern DATA =
      Pattern.compile("\\.(?<kind>quad|xword|zero)\\s+(?<number>-?\\d+)");

  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource
  void everyFieldOfEveryStructIsWhereGccHasIt(Arch arch) throws Exception {
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

    assertThat(ours).hasSizeGreaterThan(100).containsExactlyEntriesOf(askGcc(arch, ours.keySet()));
  }

  @ParameterizedTest
  @EnumSource
  void everyConstantHasTheNumberOfTheHeaders(Arch arch) throws Exception {
    var ours = new LinkedHashMap<String, Long>();
    for (Field constant : constants()) {
      CNames.of(constant).ifPresent(name -> ours.put(typed(constant, name), value(constant)));
    }
    ours.keySet().removeIf(name -> name.contains("SIGRT")); // determined by a C library function
    for (Sockets.Type type : Sockets.Type.values()) {
      ours.put(cNameOf(type), (long) type.number());
    }
    Field number = ResourceLimit.class.getDeclaredField("number");
    ours.put("RLIMIT_CORE", value(number, ResourceLimit.CORE));
    ours.put("RLIMIT_NOFILE", value(number, ResourceLimit.DESCRIPTORS));
    ours.put("RLIMIT_AS", value(number, ResourceLimit.ADDRESS_SPACE));
    ours.put("RLIMIT_SIGPENDING", value(number, ResourceLimit.PENDING_SIGNALS));
    ours.put("O_DIRECT", (long) OpenFlags.direct(arch));
    ours.put("O_DIRECTORY", (long) OpenFlags.directory(arch));
    ours.put("O_NOFOLLOW", (long) OpenFlags.noFollow(arch));
    ours.put("sizeof(struct itimerspec)", 2 * Timespec.BYTES);
    ours.put("sizeof(struct rlimit)", 16L);
    ours.put("sizeof(struct linger)", 8L);

    assertThat(ResourceLimit.values()).hasSize(4);
    assertThat(ours).hasSizeGreaterThan(180).containsExactlyEntriesOf(askGcc(arch, ours.keySet()));
  }

  @Test
  void realtimeSignalsAreThoseThatTheCLibraryLeavesToUs() throws Exception {
    String print = "int main(void) { printf(\"%d to %d\\n\", SIGRTMIN, SIGRTMAX); }\n";
    Path program = CProgram.compile(directory, "realtime", HEADERS + print);
    try (TestProcess realtime = TestProcess.start(program.toString())) {
      assertThat(realtime.line()).isEqualTo("%d to %d".formatted(Signo.RTMIN, Signo.RTMAX));
    }
  }

  @ParameterizedTest
  @EnumSource
  void everyCallByNumberHasItsNumber(Arch arch) throws Exception {
    var ours = new LinkedHashMap<String, Long>();
    for (Method method : Sys.class.getMethods()) {
      Syscall syscall = method.getAnnotation(Syscall.class);
      if (syscall != null) {
        boolean own = arch == Arch.AARCH64 && syscall.aarch64() >= 0;
        long number = own ? syscall.aarch64() : syscall.value();
        ours.put("SYS_" + snakeCase(method.getName()), number);
      }
    }

    assertThat(ours).hasSize(10).containsExactlyEntriesOf(askGcc(arch, ours.keySet()));
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

  @ParameterizedTest
  @EnumSource
  void whatTheCLibraryKeepsToItselfFitsIntoTheRoomForIt(Arch arch) throws Exception {
    var sizes =
        askGcc(
            arch,
            List.of(
                "sizeof(pthread_mutex_t)",
                "sizeof(pthread_mutexattr_t)",
                "sizeof(posix_spawnattr_t)",
                "sizeof(posix_spawn_file_actions_t)",
                "sizeof(struct sigaction)",
                "sizeof(struct sockaddr_un)",
                "sizeof(cpu_set_t)"));

    assertThat(sizes).containsEntry("sizeof(pthread_mutex_t)", RobustMutex.bytes(arch));
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

  /** The offset and size of each named field and the size of the whole, as C expressions. */
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

  /** The value of each expression, read from the assembly that gcc emits for an array of them. */
  private Map<String, Long> askGcc(Arch arch, Collection<String> expressions)
      throws IOException, InterruptedException {
    Path source = directory.resolve("numbers.c");
    Files.writeString(
        source,
        expressions.stream()
            .map(expression -> "(long long)(" + expression + ")")
            .collect(joining(",\n", HEADERS + "long long numbers[] = {\n", "};\n")));
    Path assembly = directory.resolve("numbers.s");
    try (TestProcess gcc =
        TestProcess.start(
            compiler(arch), "-S", "-D_GNU_SOURCE", "-o", assembly.toString(), source.toString())) {
      assertThat(gcc.exitCode()).isZero();
    }
    Iterator<Long> numbers = numbers(Files.readString(assembly)).iterator();
    var answers = new LinkedHashMap<String, Long>();
    expressions.forEach(expression -> answers.put(expression, numbers.next()));
    assertThat(numbers).isExhausted();
    return answers;
  }

  private static String compiler(Arch arch) {
    if (arch == Arch.current()) {
      return "gcc";
    }
    String compiler = arch.name().toLowerCase(Locale.ROOT) + "-linux-gnu-gcc";
    boolean installed =
        Stream.of(System.getenv("PATH").split(":"))
            .anyMatch(folder -> Files.isExecutable(Path.of(folder, compiler)));
    assumeTrue(installed, () -> "there is no " + compiler + " here");
    return compiler;
  }

  /** A run of zeros is emitted as its length in bytes. */
  private static List<Long> numbers(String assembly) {
    var numbers = new ArrayList<Long>();
    for (MatchResult data : DATA.matcher(assembly).results().toList()) {
      long number = Long.parseLong(data.group("number"));
      if (data.group("kind").equals("zero")) {
        numbers.addAll(Collections.nCopies((int) number / Long.BYTES, 0L));
      } else {
        numbers.add(number);
      }
    }
    return numbers;
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
