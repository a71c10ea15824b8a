package dev.belfry.shm;

import static dev.belfry.shm.Doorbell.Event.DEATH;
import static dev.belfry.shm.Doorbell.Event.SIGNAL;
import static dev.belfry.shm.Doorbell.Event.TIMEOUT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.FdFlags;
import dev.belfry.linux.PidFd;
import dev.belfry.linux.Pipe;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Spawn;
import dev.belfry.testkit.CProgram;
import dev.belfry.testkit.TestProcess;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bells between processes. A shell rings by writing a byte to the descriptor that it was given. */
final class DoorbellProcessTest extends WithBells {
  @TempDir private Path directory;

  private PidFd spawn(String script) throws Exception {
    return Spawn.command("sh", "-c", script).pass(guest.descriptor()).start(tap.sys());
  }

  @Test
  void anotherProcessRingsAndExits() throws Exception {
    try (PidFd child = spawn("printf x >&3")) {
      guest.close();
      assertThat(host.await(LONG)).isEqualTo(SIGNAL);
      assertThat(host.await(LONG)).isEqualTo(DEATH);
      assertThat(child.awaitExit().number()).isZero();
    }
  }

  // r[verify shm.doorbell.death]
  @Test
  void aKilledProcessIsDeathAlsoWhenAnotherWasStartedMeanwhile() throws Exception {
    Process sibling = new ProcessBuilder("sleep", "60").start();
    try (PidFd child = spawn("exec sleep 60");
        PidFd second = Spawn.command("sleep", "60").start(tap.sys())) {
      guest.close();
      var waiting = new FutureTask<>(host::await);
      long polls = tap.calls("ppoll");
      Thread.ofPlatform().daemon().start(waiting);
      while (tap.calls("ppoll") == polls) {
        LockSupport.parkNanos(1_000_000);
      }
      child.sendSignal(Signo.KILL);
      assertThat(waiting.get(30, TimeUnit.SECONDS)).isEqualTo(DEATH);
      child.awaitExit();
      second.sendSignal(Signo.KILL);
      second.awaitExit();
    } finally {
      sibling.destroyForcibly().waitFor();
    }
  }

  @Test
  void aThirdProcessThatHoldsTheEndHidesTheDeath() throws Exception {
    // The shell's child outlives it until it has read to the end.
    Pipe leash = Pipe.open(tap.sys(), true);
    try (PidFd child =
        Spawn.command("sh", "-c", "cat <&4 >/dev/null & printf x >&3; kill -9 $$")
            .pass(guest.descriptor())
            .pass(leash.reader().number())
            .start(tap.sys())) {
      guest.close();
      child.awaitExit();
      assertThat(host.await(LONG)).isEqualTo(SIGNAL);
      assertThat(host.await(Duration.ofMillis(50))).isEqualTo(TIMEOUT);
    }
    leash.reader().close();
    leash.writer().close();
    assertThat(host.await(LONG)).isEqualTo(DEATH);
  }

  /**
   * A JVM has a handler for SIGPIPE; this one has restored the default action, which ends a
   * process.
   */
  // r[verify shm.doorbell.signal]
  @Test
  void aRingThatNobodyHearsEndsNobodyByASignal() throws Exception {
    try (TestProcess child = TestProcess.java(RingingProgram.class)) {
      assertThat(child.rest()).containsExactly("PEER_DEAD");
      assertThat(child.exitCode()).isZero();
    }
  }

  // r[verify shm.doorbell.clear-cloexec]
  @Test
  void onlyAnInheritableEndIsInheritedByAPlainForkAndExec() throws Exception {
    Path ringing =
        CProgram.compile(
            directory,
            "ringing",
            """
            #include <stdlib.h>
            #include <unistd.h>
            int main(int argc, char **argv) {
              return argc == 2 && write(atoi(argv[1]), "x", 1) == 1 ? 0 : 3;
            }
            """);
    assertThat(forkAndExec(ringing)).isEqualTo(3);
    assertThat(host.poll()).isEqualTo(TIMEOUT);
    guest.inheritable();
    assertThat(FdFlags.isCloseOnExec(tap.sys(), guest.descriptor())).isFalse();
    assertThat(FdFlags.isCloseOnExec(tap.sys(), host.descriptor())).isTrue();
    assertThat(forkAndExec(ringing)).isZero();
    assertThat(host.poll()).isEqualTo(SIGNAL);
  }

  /**
   * Starts a program the way other launchers do, leaving all descriptors as they are; returns its
   * exit code.
   */
  private int forkAndExec(Path program) throws Exception {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment pid = arena.allocate(ValueLayout.JAVA_INT);
      MemorySegment path = arena.allocateFrom(program.toString());
      MemorySegment argv = arena.allocate(ValueLayout.ADDRESS, 3);
      argv.setAtIndex(ValueLayout.ADDRESS, 0, path);
      argv.setAtIndex(
          ValueLayout.ADDRESS, 1, arena.allocateFrom(Integer.toString(guest.descriptor())));
      MemorySegment envp = arena.allocate(ValueLayout.ADDRESS);
      MemorySegment none = MemorySegment.NULL;
      assertThat(tap.sys().posixSpawnp(pid, path, none, none, argv, envp)).isZero();
      try (PidFd child = PidFd.open(tap.sys(), pid.get(ValueLayout.JAVA_INT, 0))) {
        return child.awaitExit().number();
      }
    }
  }
}
