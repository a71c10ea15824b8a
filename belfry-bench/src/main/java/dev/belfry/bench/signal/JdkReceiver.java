package dev.belfry.bench.signal;

import dev.belfry.bench.harness.ContenderMain;
import java.lang.reflect.Proxy;
import java.nio.file.Path;

/**
 * {@code sun.misc.Signal}: the JVM's own handler, which starts a thread for each signal. It
 * supports neither realtime signals nor values. Used by reflection, because the compiler warns of
 * the name.
 */
public final class JdkReceiver {
  private JdkReceiver() {}

  public static void main(String[] arguments) throws Exception {
    Mailbox mailbox = Mailbox.open(Path.of(arguments[1]));
    Class<?> type = Class.forName("sun.misc.Signal");
    Class<?> handlerType = Class.forName("sun.misc.SignalHandler");
    Object handler =
        Proxy.newProxyInstance(
            JdkReceiver.class.getClassLoader(),
            new Class<?>[] {handlerType},
            (_, _, _) -> {
              mailbox.handled(System.nanoTime());
              return null;
            });
    Object signal = type.getConstructor(String.class).newInstance("USR1");
    type.getMethod("handle", type, handlerType).invoke(null, signal, handler);
    ContenderMain.ready("");
    ContenderMain.awaitEnd();
    System.exit(0);
  }
}
