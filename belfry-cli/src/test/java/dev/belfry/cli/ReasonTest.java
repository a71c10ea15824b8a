package dev.belfry.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.MalformedInputException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Regression: messages were Java's own, often only the name of a file or a class. */
class ReasonTest {
  @TempDir private Path directory = Path.of("");

  @Test
  void everyReasonNamesTheFileAndWhatIsWrong() {
    Map<IOException, String> reasons =
        Map.of(
            new NoSuchFileException("a"), "there is no file a",
            new AccessDeniedException("a"), "a: permission denied",
            new NotDirectoryException("a"), "a is not a directory",
            new FileAlreadyExistsException("a"), "a is there already",
            new FileSystemException("a", null, "Read-only file system"), "a: Read-only file system",
            new MalformedInputException(1), "this is not UTF-8 text",
            new IOException("as it says"), "as it says",
            new EOFException(), "java.io.EOFException");
    reasons.forEach((e, reason) -> assertThat(Reason.of(e)).isEqualTo(reason));
  }

  @Test
  void commandsSayThem() throws IOException {
    for (String command : new String[] {"run", "validate"}) {
      assertThat(CommandRun.of(command, directory.toString()).err())
          .isEqualTo("belfry %s: %s: is a directory\n".formatted(command, directory));
    }
    assertThat(CommandRun.of("validate", "nowhere.yaml").err())
        .isEqualTo("belfry validate: there is no file nowhere.yaml\n");
    Files.write(directory.resolve("token"), new byte[] {(byte) 0xff});
    Path config =
        Files.writeString(
            directory.resolve("belfry.yaml"),
            "workers: {builtin: demo}\ngateway: {token_file: token}\n");
    assertThat(CommandRun.of("validate", config.toString()).out())
        .endsWith(":2: gateway.token_file: cannot be read: this is not UTF-8 text\n");
  }
}
