package dev.belfry.cli;

import java.util.Objects;
import picocli.CommandLine.IVersionProvider;

/** The versions of the program, of Java and of the kernel. */
public final class Version implements IVersionProvider {
  /** Returns the version in the jar's manifest; classes outside a jar have none. */
  static String ofBelfry() {
    return Objects.requireNonNullElse(
        Version.class.getPackage().getImplementationVersion(), "(not packaged)");
  }

  static String ofJava() {
    return Runtime.version() + " (" + System.getProperty("java.vendor") + ")";
  }

  static String ofKernel() {
    return System.getProperty("os.name") + " " + System.getProperty("os.version");
  }

  @Override
  public String[] getVersion() {
    return new String[] {
      "belfry " + ofBelfry(),
      "Java " + ofJava() + ", " + ofKernel() + ", " + System.getProperty("os.arch")
    };
  }
}
