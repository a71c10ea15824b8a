package dev.belfry.examples;

import dev.belfry.loop.Acceptor;
import dev.belfry.loop.EventLoop;
import dev.belfry.loop.StopSource;
import dev.belfry.loop.StoppedException;
import dev.belfry.loop.StreamSocket;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A chat: what one client sends, all others receive. {@code /kick NAME} cancels the wait of another
 * client, and {@code /close} ends the server. All clients share one map and need no lock, because
 * their coroutines run on one thread.
 */
final class Chat {
  private final EventLoop loop;
  private final Map<String, Client> clients = new LinkedHashMap<>();
  private int joined;

  private Chat(EventLoop loop) {
    this.loop = loop;
  }

  private record Client(StreamSocket socket, StopSource kicked) {}

  public static void main(String[] args) throws IOException {
    int port = args.length > 0 ? Integer.parseInt(args[0]) : 0;
    try (EventLoop loop = EventLoop.open();
        Acceptor acceptor =
            Acceptor.open(loop, new InetSocketAddress(InetAddress.getLoopbackAddress(), port))) {
      System.out.println("listening at " + acceptor.localAddress());
      var chat = new Chat(loop);
      loop.spawn(
          "acceptor",
          () -> {
            while (true) {
              StreamSocket socket = acceptor.accept().await();
              loop.spawn("client", () -> chat.serve(socket));
            }
          });
      loop.run();
    }
  }

  // @start region="chat"
  private void serve(StreamSocket socket) throws IOException {
    String name = "guest" + ++joined;
    var client = new Client(socket, new StopSource());
    clients.put(name, client);
    try (socket) {
      tell(client, "you are " + name + "\n");
      MemorySegment buffer = Arena.ofAuto().allocate(1024);
      int bytes;
      while ((bytes = socket.readSome(buffer).await(client.kicked().token())) >= 0) {
        byte[] text = buffer.asSlice(0, bytes).toArray(ValueLayout.JAVA_BYTE);
        heard(name, new String(text, StandardCharsets.UTF_8).strip());
      }
    } catch (StoppedException kickedOrClosing) {
      // The socket is closed on the way out.
    } finally {
      clients.remove(name);
    }
  }

  private void heard(String from, String line) {
    if (line.startsWith("/kick ")) {
      Client unwanted = clients.get(line.substring("/kick ".length()));
      if (unwanted != null) {
        unwanted.kicked().requestStop();
      }
    } else if (line.equals("/close")) {
      loop.requestStop();
    } else {
      for (Map.Entry<String, Client> other : Map.copyOf(clients).entrySet()) {
        if (!other.getKey().equals(from)) {
          try {
            tell(other.getValue(), from + ": " + line + "\n");
          } catch (IOException | StoppedException gone) {
            // It has left meanwhile, which its own coroutine sees to.
          }
        }
      }
    }
  }

  // @end

  private static void tell(Client client, String text) throws IOException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    MemorySegment copy = Arena.ofAuto().allocateFrom(ValueLayout.JAVA_BYTE, bytes);
    client.socket().writeAll(copy).await();
  }
}
