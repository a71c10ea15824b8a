package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Errno;
import dev.belfry.linux.Facilities;
import dev.belfry.linux.Facilities.Facility;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The tests' JVM is not started with the signal mask, which doctor must notice too. */
class DoctorTest {
  @Test
  void namesTheThreadsWhoseSignalsAreNotBlocked() {
    CommandRun run = CommandRun.of("doctor");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out())
        .containsPattern("(?m)^  no   signal_mask +start with ./belfry; not blocked in:$")
        .containsPattern("(?m)^         VM Thread \\(\\d+\\): .*SIGINT.*SIGTERM")
        .endsWith("Something that Belfry needs is missing: see above.\n");
  }

  @Test
  void jsonHasTheSameFacts() {
    CommandRun run = CommandRun.of("doctor", "--json");
    JsonNode json = new JsonMapper().readTree(run.out());

    assertThat(json.propertyNames())
        .containsExactly(
            "ok", "belfry", "machine", "facilities", "signalMask", "virtualThreadsOnLoop");
    assertThat(json.at("/ok").asBoolean()).isFalse();
    assertThat(json.at("/machine").propertyNames())
        .containsExactly("java", "kernel", "architecture", "libc");
    assertThat(json.at("/facilities/0").propertyNames())
        .containsExactly("name", "available", "needed", "cause", "purpose");
    assertThat(json.at("/signalMask/blockedInAllThreads").asBoolean()).isFalse();
    assertThat(json.at("/signalMask/gaps/0/unblocked").size()).isPositive();
    assertThat(json.at("/virtualThreadsOnLoop/available").asBoolean()).isTrue();
    assertThat(json.at("/virtualThreadsOnLoop/cause").isNull()).isTrue();
  }

  @Test
  void thisMachineHasEverythingNeeded() {
    assertThat(Facilities.probe(Sys.forAnyThread()))
        .filteredOn(it -> Need.of(it.name()).needed())
        .isNotEmpty()
        .allMatch(Facility::available);
  }

  @ParameterizedTest
  @CsvSource({
    "epollCreate1, epoll",
    "eventfd, eventfd",
    "timerfdCreate, timerfd",
    "signalfd, signalfd",
    "futex, futex",
    "pthreadMutexattrInit, robust_mutex",
    "pthreadMutexattrSetrobust, robust_mutex",
    "memfdCreate, memfd_seals",
    "fcntl, memfd_seals",
    "pidfdOpen, pidfd",
    "pidfdSendSignal, pidfd",
    "waitid, pidfd",
    "posixSpawnFileActionsAddclosefrom, posix_spawn_closefrom",
    "epollPwait2, epoll_pwait2",
    "futexWaitv, futex_waitv",
    "openat2, openat2",
    "ioUringSetup, io_uring",
    "ioUringSetup, io_uring_no_sqarray",
    "ioUringRegister, io_uring_buffer_ring",
    "ioUringRegister, io_uring_multishot_recv",
    "ioUringRegister, io_uring_futex_wait",
  })
  void aRefusedCallMakesItsFacilityMissing(String call, String facility) throws IOException {
    List<String> before = openDescriptors();

    assertThat(cause(Map.of(call, Errno.ENOSYS), facility))
        .isEqualTo("ENOSYS: the kernel is too old, or a seccomp filter hides the call");
    assertThat(openDescriptors()).isEqualTo(before);
  }

  @Test
  void leavesNoDescriptorOpen() throws IOException {
    Facilities.probe(Sys.forAnyThread()); // loads its classes, which opens files
    List<String> before = openDescriptors();

    Facilities.probe(Sys.forAnyThread());

    assertThat(openDescriptors()).isEqualTo(before);
  }

  @Test
  void aSealThatDoesNotHoldIsNone() {
    // An fcntl that reports success and does nothing.
    assertThat(cause(Map.of("fcntl", 0), "memfd_seals")).startsWith("EINVAL");
  }

  @Test
  void refusedIoUringNamesTheSwitchToLookAt() {
    assertThat(cause(Map.of("ioUringSetup", Errno.EPERM), "io_uring"))
        .startsWith("EPERM: refused by ")
        .contains("kernel.io_uring_disabled");
  }

  @Test
  void aKernelThatDoesNotKnowASetupFlagIsTooOldForIt() {
    assertThat(cause(Map.of("ioUringSetup", Errno.EINVAL), "io_uring_defer_taskrun"))
        .isEqualTo("EINVAL: the kernel is too old for it");
  }

  @Test
  void missingFacilityIsShownWithItsCause() {
    Sys sys = FaultySys.failing(Map.of("pidfdOpen", Errno.EPERM, "epollPwait2", Errno.ENOSYS));

    assertThat(CommandRun.with(sys, "doctor").out())
        .containsPattern("(?m)^  no   pidfd +EPERM: refused by a seccomp filter")
        .containsPattern("(?m)^  no   epoll_pwait2 +ENOSYS: the kernel is too old")
        .containsPattern("(?m)^  yes  futex_waitv ");
    JsonNode pidfd = facility(CommandRun.with(sys, "doctor", "--json"), "pidfd");
    assertThat(pidfd.at("/available").asBoolean()).isFalse();
    assertThat(pidfd.at("/needed").asBoolean()).isTrue();
    assertThat(pidfd.at("/cause").asString()).startsWith("EPERM: ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"doctor", "doctor --json"})
  void isNotColouredWhenItIsNotATerminal(String command) {
    assertThat(CommandRun.of(command.split(" ", -1)).out()).doesNotContain("\u001b");
  }

  private static JsonNode facility(CommandRun run, String name) {
    return new JsonMapper()
        .readTree(run.out())
        .at("/facilities")
        .valueStream()
        .filter(it -> it.at("/name").asString().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static String cause(Map<String, Integer> errnoOfCall, String facility) {
    return Facilities.probe(FaultySys.failing(errnoOfCall)).stream()
        .filter(it -> it.name().equals(facility))
        .map(it -> String.valueOf(it.cause()))
        .findFirst()
        .orElseThrow();
  }

  private static List<String> openDescriptors() throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.map(Path::toString).sorted().toList();
    }
  }
}
