package dev.belfry.loop;

import static dev.belfry.linux.Errno.ENOSYS;
import static dev.belfry.linux.Errno.EPERM;

import dev.belfry.linux.ErrnoException;
import dev.belfry.linux.Fd;
import dev.belfry.linux.OpenFile;
import dev.belfry.linux.OpenFlags;
import java.lang.foreign.Arena;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Opens a file; created by {@link RegularFile#open}. */
// r[impl loop.op.file-open]
public final class OpenOperation extends Operation<RegularFile> {
  private final int directory;
  private final Path path;
  private final int flags;
  private final int mode;
  private OpenFile.@Nullable Request request;
  private @Nullable RegularFile opened;

  OpenOperation(EventLoop loop, int directory, Path path, int flags, int mode) {
    super(loop);
    this.directory = directory;
    this.path = path;
    this.flags = flags | OpenFlags.NON_BLOCKING; // opening a FIFO would wait for its other end
    this.mode = mode;
  }

  @Override
  RegularFile value() {
    RegularFile file = opened;
    if (file == null) {
      throw new IllegalStateException("no file was opened");
    }
    return file;
  }

  @Override
  void launch() {
    if (!loop.driver.open(this)) {
      openNow();
    }
  }

  private void openNow() {
    try {
      opened = new RegularFile(loop, open());
      completeValue();
    } catch (ErrnoException e) {
      completeError(e);
    }
  }

  private Fd open() throws ErrnoException {
    try {
      // The shared calls, because any thread may close the file once the loop has ended.
      return OpenFile.openAt(loop.sharedSys, directory, path, flags, mode, 0);
    } catch (ErrnoException e) {
      if (e.is(ENOSYS) || e.is(EPERM)) { // an old kernel, or a sandbox
        return OpenFile.open(loop.sharedSys, directory, path, flags, mode);
      }
      throw e;
    }
  }

  /** The request, where the kernel opens the file asynchronously; created when first needed. */
  OpenFile.Request request() {
    OpenFile.Request known = request;
    if (known == null) {
      known = OpenFile.request(Arena.ofAuto(), directory, path, flags, mode, 0);
      request = known;
    }
    return known;
  }

  /** The kernel has answered, with a descriptor or {@code -errno}. */
  void opened(int result) {
    if (result < 0) {
      completeError(new ErrnoException("openat2", -result, path));
    } else {
      opened = new RegularFile(loop, Fd.own(loop.sharedSys, result, path.toString()));
      completeValue();
    }
  }

  @Override
  void discardValue() {
    value().close();
  }

  @Override
  void withdraw() {
    loop.driver.cancel(this);
  }

  @Override
  public String toString() {
    return "open " + path;
  }
}
