package dev.belfry.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.belfry.linux.Errno;
import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.SharedFile;
import dev.belfry.linux.Sys;
import dev.belfry.testkit.Descriptors;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How a host spawns guests with tickets, and what becomes of tickets and children. */
final class HostSpawnTest extends WithHost {
  /** The path used to have the digits of the user's locale, so that it could not be opened. */
  @Test
  void aTicketNamesTheSegmentInEveryLocale() throws Exception {
    open(Placement.PADDED);
    Locale before = Locale.getDefault();
    Locale.setDefault(Locale.of("ar", "EG"));
    try (SpawnTicket ticket = host().addPeer(notices.options())) {
      assertThat(ticket.arguments().hubPath()).exists();
    } finally {
      Locale.setDefault(before);
    }
  }

  @Test
  void aGuestThatNeverComesIsKilledAtTheLimit() throws Exception {
    open(Placement.PADDED);
    SpawnTicket ticket = host().addPeer(notices.options().withAttachLimit(Duration.ofMillis(50)));
    Peer peer = host().spawn(List.of("sh", "-c", "exec sleep 60", "ticket"), ticket);
    byte[] bytes = new byte[1];
    assertThat(peer.send(MessageKind.REQUEST, 1, 0, bytes, 0, 1))
        .isEqualTo(SendResult.NOT_ATTACHED);
    assertThat(notices.next()).isEqualTo("dying TIME_LIMIT");
    assertThat(notices.next()).isEqualTo("gone killed by SIGKILL");
    assertThat(peer.sendBlocking(MessageKind.REQUEST, 1, 0, bytes, 0, 1, FutexWait.FOREVER))
        .isEqualTo(SendResult.OVER);
    fixture.assertAllFree();
  }

  // r[verify shm.spawn.reserved-state]
  @Test
  void aChildThatEndsAtOnceFreesItsReservation() throws Exception {
    open(Placement.V1);
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), host().addPeer(notices.options()));
    assertThat(notices.next()).isIn("dying PROCESS", "dying DOORBELL");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
    fixture.assertAllFree();
  }

  @Test
  void whatCannotBeStartedLeavesNothingBehind() throws Exception {
    open(Placement.PADDED);
    for (int i = 0; i < 10; i++) {
      SpawnTicket ticket = host().addPeer(notices.options());
      assertThat(ticket.peer().id()).isEqualTo(1);
      assertThatThrownBy(() -> host().spawn(List.of("/no/such/program"), ticket))
          .isInstanceOf(ErrnoException.class)
          .hasMessageContaining("ENOENT");
      loop.call(() -> true);
    }
    fixture.tap.fail("socketpair", Errno.EMFILE);
    assertThatThrownBy(() -> host().addPeer(notices.options())).hasMessageContaining("EMFILE");
    fixture.tap.pass("socketpair");
    host().addPeer(notices.options()).close();
    fixture.assertAllFree();
    assertThat(notices.all()).isEmpty();
  }

  /** The entry used to be quarantined for ever, although no guest had been started. */
  // r[verify shm.spawn.reserved-state]
  @ParameterizedTest
  @EnumSource
  void aTicketWhoseGuestIsNoLongerWantedIsGivenBack(Placement placement) throws Exception {
    open(placement);
    SpawnTicket ticket = host().addPeer(notices.options());
    ticket.peer().disconnect("not wanted any more");
    assertThat(ticket.peer().awaitAttached(FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
    assertThatThrownBy(() -> host().spawn(List.of("sh", "-c", "exit 0", "ticket"), ticket))
        .isInstanceOf(SegmentException.class)
        .hasMessageContaining("given back");
    fixture.assertAllFree();
    assertThat(notices.all()).isEmpty();
  }

  /** It used to get the messages of the next guest on its entry. */
  // r[verify shm.spawn.reserved-state]
  @ParameterizedTest
  @EnumSource
  void whoeverStillAsksForTheGuestOfAnUnusedTicketGetsNoMessageOfAnother(Placement placement)
      throws Exception {
    open(placement);
    SpawnTicket unused = host().addPeer(PeerOptions.DEFAULT);
    unused.close();
    loop.call(() -> true);
    try (SteppedGuest guest = SteppedGuest.attached(host(), PeerOptions.DEFAULT)) {
      assertThat(guest.peer().id()).isEqualTo(unused.peer().id());
      guest.step("send 7 10", "SENT");
      var message = new Message();
      assertThat(unused.peer().receive(message)).isFalse();
      assertThat(unused.peer().receiveBlocking(message, FutexWait.FOREVER)).isEqualTo(Awaited.OVER);
      assertThat(guest.peer().receive(message)).isTrue();
      assertThat(message.id()).isEqualTo(7);
      guest.kill();
    }
  }

  @Test
  void moreGuestsThanThereAreEntriesForAreRefused() throws Exception {
    open(Placement.PADDED);
    try (SpawnTicket _ = host().addPeer(notices.options());
        SpawnTicket _ = host().addPeer(notices.options())) {
      assertThatThrownBy(() -> host().addPeer(notices.options()))
          .isInstanceOf(SegmentException.class)
          .hasMessageContaining("all 2 are taken");
    }
    loop.call(() -> true);
    host().addPeer(notices.options()).close();
  }

  // r[verify shm.spawn.fd-inheritance]
  @Test
  void aChildHasItsBellAndTheSegmentAndNothingElse() throws Exception {
    open(Placement.PADDED);
    assertThat(Descriptors.now().targets()).as("numbers that are taken here").containsKeys(3, 4);
    Path list = directory.resolve("list");
    String script =
        "exec >\"$0\"; ls -l /proc/self/fd; grep -E 'Sig(Blk|Ign)' /proc/self/status; echo $*";
    host().spawn(List.of("sh", "-c", script, list.toString()), host().addPeer(notices.options()));
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 0");
    List<String> lines = Files.readAllLines(list);
    List<String> descriptors =
        lines.stream().filter(it -> it.contains(" -> ") && !it.contains("/proc/")).toList();
    assertThat(descriptors).hasSize(5); // and the one through which ls reads the directory
    assertThat(descriptors.get(3)).contains(" 3 -> socket:");
    assertThat(descriptors.get(4)).contains(" 4 -> /memfd:belfry-segment");
    assertThat(lines).anyMatch(it -> it.matches("SigBlk:\\s+0{16}"));
    long ofTheLibrary = 0x1_8000_0000L; // 32 and 33, which belong to the C library
    assertThat(lines)
        .filteredOn(it -> it.startsWith("SigIgn:"))
        .hasSize(1)
        .allMatch(it -> (Long.parseUnsignedLong(it.substring(7).strip(), 16) & ~ofTheLibrary) == 0);
    assertThat(lines.getLast()).isEqualTo("--hub-path=/proc/self/fd/4 --peer-id=1 --doorbell-fd=3");
  }

  // They used to take the numbers at which the guest looks for its bell and the segment.
  // r[verify shm.spawn.fd-inheritance]
  @Test
  void descriptorsThatACallerPassesOnComeBehindThoseOfTheGuest() throws Exception {
    open(Placement.PADDED);
    Path list = directory.resolve("list");
    String script = "exec >\"$0\"; readlink /proc/self/fd/3 /proc/self/fd/4 /proc/self/fd/5";
    try (Fd more = SharedFile.createAnonymous(Sys.forAnyThread(), "more")) {
      host()
          .spawn(
              List.of("sh", "-c", script, list.toString()),
              host().addPeer(notices.options()),
              spawn -> spawn.pass(more.number()));
    }
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 0");
    List<String> descriptors = Files.readAllLines(list);
    assertThat(descriptors).hasSize(3);
    assertThat(descriptors.get(0)).startsWith("socket:");
    assertThat(descriptors.get(1)).startsWith("/memfd:belfry-segment");
    assertThat(descriptors.get(2)).startsWith("/memfd:more");
  }

  /** The first argument of the ticket used to be run as a program. */
  // r[verify shm.spawn.ticket]
  @Test
  void aCommandWithoutAProgramIsRefusedAndTheTicketStaysGood() throws Exception {
    open(Placement.PADDED);
    SpawnTicket ticket = host().addPeer(notices.options());
    assertThatThrownBy(() -> host().spawn(List.of(), ticket))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("program");
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), ticket);
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
  }

  // It used to start a guest with the entry of one host and the memory of the other.
  @Test
  void aTicketOfAnotherHostIsRefusedAndStaysGood() throws Exception {
    open(Placement.PADDED);
    List<String> command = List.of("sh", "-c", "exit 7", "ticket");
    try (HostFixture other = HostFixture.of(Placement.PADDED)) {
      SpawnTicket ticket = other.host().addPeer(notices.options());
      assertThatThrownBy(() -> host().spawn(command, ticket))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("another host");
      other.host().spawn(command, ticket);
      assertThat(notices.next()).startsWith("dying");
      assertThat(notices.next()).isEqualTo("gone exit code 7");
    }
  }

  // r[verify shm.doorbell.clear-cloexec]
  @Test
  void noDescriptorIsMadeInheritableForAChild() throws Exception {
    open(Placement.PADDED);
    var cleared = new ConcurrentLinkedQueue<List<Object>>();
    fixture.tap.script(
        "fcntl",
        (_, arguments) -> {
          int setFlags = 2; // F_SETFD
          if (arguments[1].equals(setFlags) && arguments[2].equals(0L)) {
            cleared.add(List.of(arguments));
          }
          return OptionalLong.empty();
        });
    host().spawn(List.of("sh", "-c", "exit 7", "ticket"), host().addPeer(notices.options()));
    assertThat(notices.next()).startsWith("dying");
    assertThat(notices.next()).isEqualTo("gone exit code 7");
    assertThat(fixture.tap.calls("fcntl")).isPositive();
    assertThat(cleared).isEmpty();
  }
}
