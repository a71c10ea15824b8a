package dev.belfry.testkit;

import dev.belfry.linux.Sys;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Intercepts the system calls of the code under test: counts each call, and lets a test inspect it
 * or answer in its place. Calls are named after the methods of {@link Sys}. Thread-safe.
 *
 * {@snippet :
 * SysTap tap = SysTap.over(Sys.forAnyThread());
 * tap.failAt("accept4", 2, Errno.EMFILE);      // the second from now on, once
 * Sockets.accept(tap.sys(), fd);
 * tap.calls("accept4");                        // 1
 * }
 */
public final class SysTap {
  private static final Set<String> NAMES =
      Arrays.stream(Sys.class.getMethods()).map(Method::getName).collect(Collectors.toSet());

  private final Sys real;
  private final Sys tapped;
  private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();
  private final Map<String, Script> scripts = new ConcurrentHashMap<>();

  private SysTap(Sys real) {
    this.real = real;
    this.tapped =
        (Sys)
            Proxy.newProxyInstance(
                Sys.class.getClassLoader(),
                new Class<?>[] {Sys.class},
                (_, method, arguments) -> invoke(method, arguments));
  }

  /** A test's response to a call. */
  public interface Script {
    /**
     * Inspects a call that is about to be made.
     *
     * @param nth the ordinal of the call since the script was set, from 1
     * @param arguments as passed
     * @return the result to return without making the call, or empty to make it
     */
    OptionalLong onCall(long nth, Object[] arguments);
  }

  /** Taps these calls. */
  public static SysTap over(Sys real) {
    return new SysTap(real);
  }

  /** The tapped calls, for the code under test. */
  public Sys sys() {
    return tapped;
  }

  /** How often a call was made, or answered in its place. */
  public long calls(String name) {
    return count(name).get();
  }

  /** Runs a script at each call from now on, replacing any previous one. */
  public void script(String name, Script script) {
    var nth = new AtomicLong();
    scripts.put(known(name), (_, arguments) -> script.onCall(nth.incrementAndGet(), arguments));
  }

  /** Makes a call fail from now on. */
  public void fail(String name, int errno) {
    script(name, (_, _) -> OptionalLong.of(-errno));
  }

  /** Makes a call fail this many times, then work. */
  public void failFirst(String name, int times, int errno) {
    script(name, (nth, _) -> nth <= times ? OptionalLong.of(-errno) : OptionalLong.empty());
  }

  /** Makes the nth call from now on fail, counted from 1, and no other. */
  public void failAt(String name, long which, int errno) {
    script(name, (nth, _) -> nth == which ? OptionalLong.of(-errno) : OptionalLong.empty());
  }

  /** Makes a call work again. */
  public void pass(String name) {
    scripts.remove(known(name));
  }

  private @Nullable Object invoke(Method method, Object @Nullable [] given) throws Throwable {
    Object[] arguments = given != null ? given : new Object[0];
    if (method.getDeclaringClass() == Object.class) {
      return method.invoke(this, arguments); // its identity and name are the tap's
    }
    count(method.getName()).incrementAndGet();
    Script script = scripts.get(method.getName());
    OptionalLong answer = script != null ? script.onCall(0, arguments) : OptionalLong.empty();
    if (answer.isPresent()) {
      long value = answer.getAsLong();
      return method.getReturnType() == long.class ? (Object) value : (Object) (int) value;
    }
    try {
      return method.invoke(real, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private AtomicLong count(String name) {
    return counts.computeIfAbsent(known(name), _ -> new AtomicLong());
  }

  private static String known(String name) {
    if (!NAMES.contains(name)) {
      throw new IllegalArgumentException("no system call is named " + name);
    }
    return name;
  }
}
