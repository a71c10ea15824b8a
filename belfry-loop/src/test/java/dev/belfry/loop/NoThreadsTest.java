package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import dev.belfry.linux.Pipe;
import dev.belfry.linux.Sys;
import dev.belfry.loop.LoopSupport.EveryBackend;
import dev.belfry.testkit.TestProcess;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

final class NoThreadsTest {

  // r[verify loop.backend.no-threads]
  @EveryBackend
  void aLoopStartsNoThreadOfItsOwn(Backend backend) throws Exception {
    var command = new ArrayList<>(TestProcess.javaCommand(Child.class, backend.name()));
    command.addAll(1, List.of("-XX:-UseDynamicNumberOfCompilerThreads", "-XX:CICompilerCount=1"));
    try (TestProcess child = TestProcess.start(command)) {
      String before = child.line("before ");
      assertThat(child.line("completed ")).isEqualTo("5");
      assertThat(child.line("during ")).isEqualTo(before);
      assertThat(child.line("after ")).isEqualTo(before);
      assertThat(child.exitCode()).isZero();
    }
  }

  /** Looks at the threads of its own process. */
  static final class Child {
    private Child() {}

    public static void main(String[] arguments) throws IOException {
      // The layer below has a thread that reports leaked descriptors. It exists already, but it
      // sets its own name, and has the program's until then.
      Pipe pipe = Pipe.open(Sys.forAnyThread(), false);
      pipe.reader().close();
      pipe.writer().close();
      String before = threads();
      while (!before.contains("Cleaner-0")) {
        before = threads();
      }
      System.out.println("before " + before);
      try (EventLoop loop = EventLoop.open(Backend.valueOf(arguments[0]));
          Arena arena = Arena.ofConfined()) {
        var completed = new AtomicInteger();
        Completion<Object> count = _ -> completed.incrementAndGet();
        var any = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
        Acceptor acceptor = Acceptor.open(loop, any);
        StreamSocket client = StreamSocket.open(loop, StandardProtocolFamily.INET);
        AcceptOperation accept = acceptor.accept();
        accept.start(count);
        client.connect(acceptor.localAddress()).start(count);
        loop.scheduler().after(Duration.ofMillis(1)).start(count);
        LoopSupport.drive(loop, () -> completed.get() == 3);
        StreamSocket server = accept.result();
        server.readSome(arena.allocate(8)).start(count);
        client.writeSome(arena.allocateFrom("x")).start(count);
        LoopSupport.drive(loop, () -> completed.get() == 5);
        System.out.println("completed " + completed);
        System.out.println("during " + threads());
        server.close();
        client.close();
        acceptor.close();
      }
      System.out.println("after " + threads());
    }

    private static String threads() throws IOException {
      var names = new ArrayList<String>();
      try (var tasks = Files.newDirectoryStream(Path.of("/proc/self/task"))) {
        for (Path task : tasks) {
          names.add(Files.readString(task.resolve("comm")).strip());
        }
      }
      names.sort(null);
      return String.join(",", names);
    }
  }
}
