package dev.belfry.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;

/**
 * A copy of the launcher in a directory of its own, with a jar that holds {@link SampleProgram}. So
 * the real script starts programs that do what a test needs.
 */
record Installation(Path root) {
  /** The project under test. */
  static final Path PROJECT = Path.of(System.getProperty("belfry.root"));

  /** Copies the launcher, without a jar. */
  static Installation withoutJar(Path root) throws IOException {
    Files.createDirectories(root.resolve("belfry-cli/target"));
    Files.createDirectories(root.resolve("belfry-cli/src/main"));
    Files.writeString(root.resolve("belfry-cli/src/main/Source.java"), "");
    Files.writeString(root.resolve("pom.xml"), "");
    Files.writeString(root.resolve("belfry-cli/pom.xml"), "");
    Files.copy(PROJECT.resolve("belfry"), root.resolve("belfry"));
    return new Installation(root);
  }

  static Installation withJar(Path root) throws IOException {
    Installation installation = withoutJar(root);
    writeJar(installation.jar());
    return installation;
  }

  Path launcher() {
    return root.resolve("belfry");
  }

  Path jar() {
    return root.resolve("belfry-cli/target/belfry.jar");
  }

  Path source() {
    return root.resolve("belfry-cli/src/main/Source.java");
  }

  /** Writes a jar with only a manifest, which refers to the classes of the test. */
  static void writeJar(Path file) throws IOException {
    String classPath =
        Arrays.stream(System.getProperty("java.class.path").split(":", -1))
            .map(entry -> Path.of(entry).toUri().toString())
            .collect(Collectors.joining(" "));
    var manifest = new Manifest();
    Attributes attributes = manifest.getMainAttributes();
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0");
    attributes.put(Attributes.Name.MAIN_CLASS, SampleProgram.class.getName());
    attributes.put(Attributes.Name.CLASS_PATH, classPath);
    attributes.putValue("Enable-Native-Access", "ALL-UNNAMED");
    attributes.putValue("Add-Opens", "java.base/java.lang");
    new JarOutputStream(Files.newOutputStream(file), manifest).close();
  }

  /** Writes an executable script. */
  static void script(Path directory, String name, String text) throws IOException {
    Path file = Files.createDirectories(directory).resolve(name);
    Files.writeString(file, "#!/bin/bash\n" + text);
    if (!file.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + file + " executable");
    }
  }
}
