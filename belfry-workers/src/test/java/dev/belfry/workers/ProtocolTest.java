package dev.belfry.workers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The vectors of docs/protocol.md; those that a C worker can run are run there too. */
final class ProtocolTest {
  static final String VECTORS = "protocol-vectors.txt";

  /** A line of the file. */
  record Vector(String line) {
    private String[] words() {
      return line.split(" ", -1);
    }

    String what() {
      return words()[0];
    }

    String hex() {
      return words()[1].equals("-") ? "" : words()[1];
    }

    byte[] bytes() {
      return HexFormat.of().parseHex(hex());
    }

    /** The bytes as a little-endian number. */
    long number() {
      byte[] bytes = bytes();
      long number = 0;
      for (int i = bytes.length - 1; i >= 0; i--) {
        number = number << 8 | (bytes[i] & 0xff);
      }
      return number;
    }

    List<String> meaning() {
      return Arrays.stream(words()).skip(2).toList();
    }

    long meaning(int index) {
      return Long.parseLong(meaning().get(index));
    }

    @Override
    public String toString() {
      return line;
    }
  }

  static List<Vector> vectors() throws IOException {
    try (InputStream file = ProtocolTest.class.getResourceAsStream(VECTORS)) {
      return new String(Objects.requireNonNull(file).readAllBytes(), UTF_8)
          .lines()
          .filter(line -> !line.isBlank() && !line.startsWith("#"))
          .map(Vector::new)
          .toList();
    }
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  @ParameterizedTest
  @MethodSource("vectors")
  void bytesMeanWhatIsWrittenDown(Vector vector) {
    byte[] bytes = vector.bytes();
    switch (vector.what()) {
      case "method" ->
          assertThat(Protocol.methodId(vector.meaning().getFirst())).isEqualTo(vector.number());
      case "hello" -> {
        assertThat(hex(Protocol.hello(vector.meaning()))).isEqualTo(vector.hex());
        assertThat(Protocol.parseHello(bytes, bytes.length)).isEqualTo(vector.meaning());
      }
      case "request" -> request(vector);
      case "answer" -> answer(vector);
      case "status" -> status(vector);
      default -> refused(vector);
    }
  }

  private static void request(Vector vector) {
    byte[] bytes = vector.bytes();
    int millis = (int) vector.meaning(0);
    long channel = vector.meaning(1);
    long length = vector.meaning(2);
    Protocol.Header header = Protocol.parseRequest(bytes, bytes.length);
    assertThat(header).isEqualTo(new Protocol.Header(channel, length, millis));
    byte[] made =
        header.isInChunks()
            ? Protocol.request((int) channel, length, millis)
            : Protocol.request(Arrays.copyOfRange(bytes, 4, bytes.length), millis);
    assertThat(hex(made)).isEqualTo(vector.hex());
  }

  private static void answer(Vector vector) {
    byte[] bytes = vector.bytes();
    long channel = vector.meaning(0);
    long length = vector.meaning(1);
    assertThat(hex(Protocol.answer((int) channel, length))).isEqualTo(vector.hex());
    assertThat(Protocol.parseAnswerInChunks(bytes, bytes.length))
        .isEqualTo(new Protocol.Header(channel, length, 0));
  }

  private static void status(Vector vector) {
    Status meant =
        switch (vector.meaning().get(1)) {
          case "done" -> Status.DONE;
          case "failed" -> Status.FAILED;
          case "unknown" -> Status.UNKNOWN_METHOD;
          case "cancelled" -> Status.CANCELLED;
          default -> Status.TOO_LONG;
        };
    boolean inChunks = vector.meaning().getFirst().equals("chunks");
    assertThat(Protocol.status(vector.number())).isEqualTo(meant);
    assertThat(meant.number() | (inChunks ? Protocol.ANSWER_IN_CHUNKS : 0))
        .isEqualTo(vector.number());
  }

  private static void refused(Vector vector) {
    byte[] bytes = vector.bytes();
    assertThatExceptionOfType(MalformedMessage.class)
        .isThrownBy(
            () -> {
              switch (vector.what()) {
                case "no-hello" -> Protocol.parseHello(bytes, bytes.length);
                case "no-request" -> Protocol.parseRequest(bytes, bytes.length);
                case "no-answer" -> Protocol.parseAnswerInChunks(bytes, bytes.length);
                case "no-status" -> Protocol.status(vector.number());
                default -> throw new AssertionError("what is a " + vector.what() + "?");
              }
            });
  }

  @Test
  void thereAreVectorsOfEveryKind() throws IOException {
    Stream<String> kinds = vectors().stream().map(Vector::what).distinct();
    assertThat(kinds)
        .containsExactlyInAnyOrder(
            "method",
            "hello",
            "no-hello",
            "request",
            "no-request",
            "answer",
            "no-answer",
            "status",
            "no-status");
  }

  @Test
  void namesHaveOneTo255Bytes() {
    assertThat(Protocol.checkName("x".repeat(255))).hasSize(255);
    assertThatIllegalArgumentException().isThrownBy(() -> Protocol.checkName(""));
    assertThatIllegalArgumentException().isThrownBy(() -> Protocol.checkName("ö".repeat(128)));
  }
}
