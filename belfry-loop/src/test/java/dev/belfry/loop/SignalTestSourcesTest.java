package dev.belfry.loop;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SignalTestSourcesTest {
  private static final Path TESTS =
      Path.of(System.getProperty("belfry.root"), "belfry-loop", "src", "test", "java");

  // r[verify sig.test.avoid]
  @Test
  void alarmsAndEndsOfChildrenAreSentOnlyWhereATestIsAboutThem() throws IOException {
    var users = new TreeSet<String>();
    try (Stream<Path> files = Files.walk(TESTS)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (Files.readString(file).matches("(?s).*\\bSigno\\.(ALRM|CHLD)\\b.*")) {
          users.add(String.valueOf(file.getFileName()));
        }
      }
    }
    assertThat(users).containsExactly("SignalDetailsTest.java", "SignalReceiver.java");
  }
}
