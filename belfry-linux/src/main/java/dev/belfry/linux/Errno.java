package dev.belfry.linux;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.jspecify.annotations.Nullable;

/**
 * Error numbers, the same on x86-64 and aarch64 ({@code asm-generic/errno.h}, {@code errno(3)}).
 */
public final class Errno {
  public static final int EPERM = 1;
  public static final int ENOENT = 2;
  public static final int ESRCH = 3;
  public static final int EINTR = 4;
  public static final int EIO = 5;
  public static final int ENXIO = 6;
  public static final int E2BIG = 7;
  public static final int ENOEXEC = 8;
  public static final int EBADF = 9;
  public static final int ECHILD = 10;
  public static final int EAGAIN = 11;
  public static final int ENOMEM = 12;
  public static final int EACCES = 13;
  public static final int EFAULT = 14;
  public static final int EBUSY = 16;
  public static final int EEXIST = 17;
  public static final int EXDEV = 18;
  public static final int ENODEV = 19;
  public static final int ENOTDIR = 20;
  public static final int EISDIR = 21;
  public static final int EINVAL = 22;
  public static final int ENFILE = 23;
  public static final int EMFILE = 24;
  public static final int ENOTTY = 25;
  public static final int ETXTBSY = 26;
  public static final int EFBIG = 27;
  public static final int ENOSPC = 28;
  public static final int ESPIPE = 29;
  public static final int EROFS = 30;
  public static final int EMLINK = 31;
  public static final int EPIPE = 32;
  public static final int ERANGE = 34;
  public static final int EDEADLK = 35;
  public static final int ENAMETOOLONG = 36;
  public static final int ENOSYS = 38;
  public static final int ELOOP = 40;
  public static final int ETIME = 62;
  public static final int EPROTO = 71;
  public static final int EOVERFLOW = 75;
  public static final int EILSEQ = 84;
  public static final int ENOTSOCK = 88;
  public static final int EDESTADDRREQ = 89;
  public static final int EMSGSIZE = 90;
  public static final int EPROTOTYPE = 91;
  public static final int ENOPROTOOPT = 92;
  public static final int EPROTONOSUPPORT = 93;
  public static final int EOPNOTSUPP = 95;
  public static final int EAFNOSUPPORT = 97;
  public static final int EADDRINUSE = 98;
  public static final int EADDRNOTAVAIL = 99;
  public static final int ENETDOWN = 100;
  public static final int ENETUNREACH = 101;
  public static final int ECONNABORTED = 103;
  public static final int ECONNRESET = 104;
  public static final int ENOBUFS = 105;
  public static final int EISCONN = 106;
  public static final int ENOTCONN = 107;
  public static final int ETIMEDOUT = 110;
  public static final int ECONNREFUSED = 111;
  public static final int EHOSTUNREACH = 113;
  public static final int EALREADY = 114;
  public static final int EINPROGRESS = 115;
  public static final int ECANCELED = 125;
  public static final int EOWNERDEAD = 130;
  public static final int ENOTRECOVERABLE = 131;

  private static final @Nullable String[] NAMES = names();

  private Errno() {}

  /** The symbol of an error number, such as {@code ENOENT}, or {@code errno 999} if unknown. */
  public static String name(int errno) {
    String name = errno >= 0 && errno < NAMES.length ? NAMES[errno] : null;
    return name != null ? name : "errno " + errno;
  }

  private static @Nullable String[] names() {
    var names = new @Nullable String[ENOTRECOVERABLE + 1];
    try {
      for (Field field : Errno.class.getDeclaredFields()) {
        if (Modifier.isPublic(field.getModifiers())) {
          names[field.getInt(null)] = field.getName();
        }
      }
    } catch (IllegalAccessException e) {
      throw new AssertionError("public fields of this very class", e);
    }
    return names;
  }
}
