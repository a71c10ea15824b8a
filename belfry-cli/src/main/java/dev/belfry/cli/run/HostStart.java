package dev.belfry.cli.run;

import dev.belfry.cli.Reason;
import dev.belfry.cli.config.ConfigException;
import dev.belfry.cli.config.ConfigFile;
import dev.belfry.cli.config.HostConfig;
import dev.belfry.linux.Sys;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Starts a host, or reports why it cannot. */
final class HostStart {
  private static final int FAILED = 1;
  private static final int INVALID = 2;

  private final Sys sys;
  private final PrintWriter out;
  private final PrintWriter err;

  HostStart(Sys sys, PrintWriter out, PrintWriter err) {
    this.sys = sys;
    this.out = out;
    this.err = err;
  }

  /** Supervises a host and returns when the last child has ended. In the child, runs the host. */
  int supervise(@Nullable Path file) throws InterruptedException {
    if (Supervise.isChild(sys)) {
      return run(file);
    }
    try {
      return Supervise.run(sys, file != null);
    } catch (IOException e) {
      return fail(FAILED, e);
    }
  }

  /** Runs a host. Returns only if it cannot run. */
  int run(@Nullable Path file) throws InterruptedException {
    try {
      Supervise.dieWithSupervisor(sys);
      HostConfig config = file == null ? HostConfig.demo() : ConfigFile.load(file);
      RunningHost.run(config, file, out);
      return FAILED;
    } catch (ConfigException e) {
      return fail(INVALID, e);
    } catch (IOException | IllegalArgumentException e) {
      return fail(FAILED, e);
    }
  }

  private int fail(int exitCode, Exception e) {
    err.println("belfry run: " + Reason.of(e));
    return exitCode;
  }
}
