package dev.belfry.testkit;

import dev.belfry.linux.IoUring;
import dev.belfry.linux.Sys;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/**
 * Skips io_uring tests where the machine refuses it, as many containers do, unless the environment
 * demands them ({@code BELFRY_IO_URING=required}). These are the tests marked {@link NeedsIoUring},
 * and those with an argument that names io_uring, as in the matrix of backends. JUnit registers
 * this class automatically.
 */
public final class IoUringTests implements ExecutionCondition, InvocationInterceptor {
  private static final Optional<String> OBSTACLE =
      "required".equals(System.getenv("BELFRY_IO_URING"))
          ? Optional.empty()
          : IoUring.unavailabilityCause(Sys.forAnyThread())
              .map(cause -> "there is no io_uring here: " + cause);

  /** For JUnit. */
  public IoUringTests() {}

  @Override
  public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
    boolean needed =
        context.getElement().filter(it -> it.isAnnotationPresent(NeedsIoUring.class)).isPresent();
    return needed && OBSTACLE.isPresent()
        ? ConditionEvaluationResult.disabled(OBSTACLE.get())
        : ConditionEvaluationResult.enabled("nothing is missing");
  }

  @Override
  public void interceptTestTemplateMethod(
      Invocation<Void> test, ReflectiveInvocationContext<Method> how, ExtensionContext context)
      throws Throwable {
    leaveOutIfRefused(how.getArguments());
    test.proceed();
  }

  @Override
  public <T> T interceptTestClassConstructor(
      Invocation<T> creation,
      ReflectiveInvocationContext<Constructor<T>> how,
      ExtensionContext context)
      throws Throwable {
    leaveOutIfRefused(how.getArguments());
    return creation.proceed();
  }

  private static void leaveOutIfRefused(List<Object> arguments) {
    boolean needed =
        arguments.stream()
            .anyMatch(it -> String.valueOf(it).toLowerCase(Locale.ROOT).contains("io_uring"));
    if (needed) {
      OBSTACLE.ifPresent(Assumptions::abort);
    }
  }
}
