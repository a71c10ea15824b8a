package dev.belfry.loop;

import dev.belfry.testkit.TestProcess;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Runs the tests of a class in a JVM of their own, one per class, started as the launcher does. So
 * signals can be sent to it, and never to the JVM that runs all the other tests.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(InSignalJvm.Extension.class)
@interface InSignalJvm {

  /** Sends the name of each test to the other JVM instead of calling it here. */
  final class Extension implements InvocationInterceptor {
    @Override
    public void interceptTestMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> test,
        ExtensionContext context)
        throws Throwable {
      runThere(invocation, test, context);
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> test,
        ExtensionContext context)
        throws Throwable {
      runThere(invocation, test, context);
    }

    private static void runThere(
        Invocation<Void> invocation,
        ReflectiveInvocationContext<Method> test,
        ExtensionContext context)
        throws IOException, InterruptedException {
      invocation.skip();
      TestProcess jvm = jvm(context);
      var request = new ArrayList<String>();
      request.add(test.getTargetClass().getName());
      request.add(test.getExecutable().getName());
      test.getArguments().forEach(backend -> request.add(((Backend) backend).name()));
      jvm.say(String.join(" ", request));
      String answer = jvm.line(Child.ANSWER);
      if (!answer.isEmpty()) {
        String trace = new String(Base64.getDecoder().decode(answer), StandardCharsets.UTF_8);
        throw new AssertionError("in the other JVM: " + trace);
      }
    }

    private static TestProcess jvm(ExtensionContext test) {
      // Stored with the class, so that it ends after its last test.
      ExtensionContext ofClass = test.getParent().orElseThrow();
      while (ofClass.getTestMethod().isPresent()) {
        ofClass = ofClass.getParent().orElseThrow();
      }
      return ofClass
          .getStore(Namespace.create(InSignalJvm.class))
          .computeIfAbsent(TestProcess.class, _ -> start(), TestProcess.class);
    }

    private static TestProcess start() {
      try {
        return TestProcess.javaWithSignals(Child.class, String.valueOf(LoopSupport.STRESS));
      } catch (IOException e) {
        throw new AssertionError("cannot start a JVM", e);
      }
    }
  }

  /** The other JVM: runs the tests it is told to, and answers with nothing or a stack trace. */
  final class Child {
    static final String ANSWER = "answer:";

    private Child() {}

    public static void main(String[] arguments) throws Exception {
      System.setProperty("belfry.stress", arguments[0]);
      PrintStream out = System.out;
      var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      String line;
      while ((line = in.readLine()) != null) {
        out.println(ANSWER + answer(line.split(" ")));
        out.flush();
      }
      System.exit(0);
    }

    private static String answer(String[] request) throws ReflectiveOperationException {
      Class<?> type = Class.forName(request[0]);
      var types = new ArrayList<Class<?>>();
      var values = new ArrayList<Object>();
      for (String backend : List.of(request).subList(2, request.length)) {
        types.add(Backend.class);
        values.add(Backend.valueOf(backend));
      }
      Constructor<?> constructor = type.getDeclaredConstructor();
      constructor.setAccessible(true);
      Method test = type.getDeclaredMethod(request[1], types.toArray(Class<?>[]::new));
      test.setAccessible(true);
      try {
        test.invoke(constructor.newInstance(), values.toArray());
        return "";
      } catch (InvocationTargetException e) {
        var trace = new StringWriter();
        e.getTargetException().printStackTrace(new PrintWriter(trace));
        return Base64.getEncoder()
            .encodeToString(trace.toString().getBytes(StandardCharsets.UTF_8));
      }
    }
  }
}
