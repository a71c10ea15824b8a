package dev.belfry.linux;

import java.lang.classfile.ClassBuilder;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.TypeKind;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.DirectMethodHandleDesc;
import java.lang.constant.DynamicConstantDesc;
import java.lang.constant.MethodTypeDesc;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Generates the class that implements {@link Sys}. By hand, it would be ninety methods that all do
 * the same thing: nine hundred lines, and room for a mistake. So each method is generated from its
 * declaration. In Java it would read:
 *
 * <pre>{@code
 * public int epollCtl(int epollFd, int operation, int fd, MemorySegment event) {
 *   MemorySegment state = state();
 *   return result((int) EPOLL_CTL.invokeExact(state, epollFd, operation, fd, event), state);
 * }
 * }</pre>
 *
 * where {@code EPOLL_CTL} is a constant that is linked at the first call. To the JIT compiler it is
 * the same as a {@code static final} handle, and everything is inlined.
 */
final class NativeCallsGenerator {
  private static final ClassDesc THIS = ClassDesc.of("dev.belfry.linux.GeneratedNativeCalls");
  private static final ClassDesc SUPER = desc(NativeCalls.class);
  private static final ClassDesc SEGMENT = desc(MemorySegment.class);
  private static final MethodTypeDesc TAKES_STATE =
      MethodTypeDesc.of(ConstantDescs.CD_void, SEGMENT);

  private static final MethodHandle CONSTRUCTOR = generate();

  private NativeCallsGenerator() {}

  /** Creates an instance that captures errno in the given state, or per thread if it is null. */
  static Sys create(@Nullable MemorySegment state) {
    try {
      return (Sys) CONSTRUCTOR.invoke(state);
    } catch (Throwable unexpected) {
      throw new LinkageError("cannot make the system calls", unexpected);
    }
  }

  private static MethodHandle generate() {
    byte[] bytes = ClassFile.of().build(THIS, NativeCallsGenerator::writeClass);
    try {
      MethodHandles.Lookup generated = MethodHandles.lookup().defineHiddenClass(bytes, true);
      return generated.findConstructor(
          generated.lookupClass(), MethodType.methodType(void.class, MemorySegment.class));
    } catch (ReflectiveOperationException e) {
      throw new LinkageError("cannot make the system calls", e);
    }
  }

  private static void writeClass(ClassBuilder type) {
    type.withFlags(ClassFile.ACC_FINAL | ClassFile.ACC_SYNTHETIC).withSuperclass(SUPER);
    type.withMethodBody(
        ConstantDescs.INIT_NAME,
        TAKES_STATE,
        0,
        code ->
            code.aload(0)
                .aload(1)
                .invokespecial(SUPER, ConstantDescs.INIT_NAME, TAKES_STATE)
                .return_());
    for (Method method : Sys.class.getDeclaredMethods()) {
      if (Modifier.isAbstract(method.getModifiers())) {
        type.withMethodBody(
            method.getName(),
            callType(method).describeConstable().orElseThrow(),
            ClassFile.ACC_PUBLIC | ClassFile.ACC_FINAL,
            code -> writeCall(code, method));
      }
    }
  }

  private static void writeCall(CodeBuilder code, Method method) {
    MethodTypeDesc type = callType(method).describeConstable().orElseThrow();
    LibC libc = method.getAnnotation(LibC.class);
    if (libc != null && libc.returnsError()) {
      code.ldc(constant("libcReturningError", libc.value(), List.of(type)));
      loadArguments(code, type);
      code.invokevirtual(ConstantDescs.CD_MethodHandle, "invokeExact", type).ineg().ireturn();
      return;
    }
    Syscall syscall = method.getAnnotation(Syscall.class);
    if (syscall != null && !syscall.errno()) {
      code.ldc(constant("syscallWithoutErrno", method.getName(), List.of(type, number(method))));
      loadArguments(code, type);
      code.invokevirtual(ConstantDescs.CD_MethodHandle, "invokeExact", type)
          .return_(TypeKind.from(type.returnType()));
      return;
    }
    int state = code.allocateLocal(TypeKind.REFERENCE);
    code.aload(0).invokevirtual(SUPER, "state", MethodTypeDesc.of(SEGMENT)).astore(state);
    code.ldc(
        libc != null
            ? constant("libc", libc.value(), List.of(type, libc.variadicFrom()))
            : constant("syscall", method.getName(), List.of(type, number(method))));
    code.aload(state);
    loadArguments(code, type);
    ClassDesc returned = type.returnType();
    code.invokevirtual(
            ConstantDescs.CD_MethodHandle, "invokeExact", type.insertParameterTypes(0, SEGMENT))
        .aload(state)
        .invokestatic(SUPER, "result", MethodTypeDesc.of(returned, returned, SEGMENT))
        .return_(TypeKind.from(returned));
  }

  private static void loadArguments(CodeBuilder code, MethodTypeDesc type) {
    for (int i = 0; i < type.parameterCount(); i++) {
      code.loadLocal(TypeKind.from(type.parameterType(i)), code.parameterSlot(i));
    }
  }

  private static int number(Method method) {
    Syscall syscall = method.getAnnotation(Syscall.class);
    if (syscall == null) {
      throw new LinkageError(method + " says neither LibC nor Syscall");
    }
    boolean aarch64 = Arch.current() == Arch.AARCH64 && syscall.aarch64() >= 0;
    return aarch64 ? syscall.aarch64() : syscall.value();
  }

  /** A constant of the generated class: the handle that a bootstrap method links for a name. */
  private static DynamicConstantDesc<?> constant(
      String bootstrap, String name, List<? extends ConstantDesc> arguments) {
    var parameters = new ArrayList<ClassDesc>();
    for (ConstantDesc argument : arguments) {
      parameters.add(
          argument instanceof Integer ? ConstantDescs.CD_int : ConstantDescs.CD_MethodType);
    }
    DirectMethodHandleDesc method =
        ConstantDescs.ofConstantBootstrap(
            SUPER, bootstrap, ConstantDescs.CD_MethodHandle, parameters.toArray(ClassDesc[]::new));
    return DynamicConstantDesc.ofNamed(
        method, name, ConstantDescs.CD_MethodHandle, arguments.toArray(ConstantDesc[]::new));
  }

  private static MethodType callType(Method method) {
    return MethodType.methodType(method.getReturnType(), method.getParameterTypes());
  }

  private static ClassDesc desc(Class<?> type) {
    return type.describeConstable().orElseThrow();
  }
}
