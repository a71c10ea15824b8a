package dev.belfry.workers;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The vectors of docs/protocol.md. */
final class ProtocolTest {
  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex);
  }

  @ParameterizedTest
  @CsvSource({"echo, 092c79e8f80e559e", "upper, aee6105582920237", "größe, d353a2671b67afff"})
  void aMethodIsCalledByTheFirstEightBytesOfItsDigest(String name, String hex) {
    assertThat(Protocol.methodId(name))
        .isEqualTo(Long.reverseBytes(HexFormat.fromHexDigitsToLong(hex)));
  }

  @Test
  void aCallHasItsTimeInFront() {
    assertThat(hex(Protocol.request("hi".getBytes(UTF_8), 1000))).isEqualTo("e80300006869");
    Protocol.Header header = Protocol.parseRequest(bytes("e80300006869"), 6);
    assertThat(header).isEqualTo(new Protocol.Header(0, 2, 1000));
    assertThat(header.isInChunks()).isFalse();
  }

  @Test
  void aLongCallNamesItsChannel() {
    byte[] announced = Protocol.request(2, 100_000, 1000);
    assertThat(hex(announced)).isEqualTo("e803008002000000a086010000000000");
    assertThat(Protocol.parseRequest(announced, announced.length))
        .isEqualTo(new Protocol.Header(2, 100_000, 1000));
  }

  @Test
  void aLongAnswerNamesItsChannel() {
    byte[] announced = Protocol.answer(3, 65_536);
    assertThat(hex(announced)).isEqualTo("030000000000010000000000");
    assertThat(Protocol.parseAnswerInChunks(announced, announced.length))
        .isEqualTo(new Protocol.Header(3, 65_536, 0));
  }

  @Test
  void aWorkerSaysWhatItHas() {
    byte[] hello = Protocol.hello(List.of("echo", "ö"));
    assertThat(hex(hello)).isEqualTo("01" + "04" + "6563686f" + "02" + "c3b6");
    assertThat(Protocol.parseHello(hello, hello.length)).containsExactly("echo", "ö");
    assertThat(Protocol.parseHello(bytes("01"), 1)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "02", "0100", "0105ab", "0103616263ff"})
  void whatIsNoHelloIsRefused(String hex) {
    byte[] rubbish = bytes(hex);
    assertThatExceptionOfType(MalformedMessage.class)
        .isThrownBy(() -> Protocol.parseHello(rubbish, rubbish.length));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "e80300",
        "e8030080",
        "e803008000000000a086010000000000",
        "e803008002000000ffffffffffffffff",
        "e8030080020000000100000400000000",
        "e8030080020000000100000400000000ff"
      })
  void whatIsNoCallIsRefused(String hex) {
    byte[] rubbish = bytes(hex);
    assertThatExceptionOfType(MalformedMessage.class)
        .isThrownBy(() -> Protocol.parseRequest(rubbish, rubbish.length));
  }

  @Test
  void thereAreFiveStatuses() {
    assertThat(Protocol.status(0)).isEqualTo(Status.OK);
    assertThat(Protocol.status(4 | Protocol.ANSWER_IN_CHUNKS)).isEqualTo(Status.TOO_LARGE);
    assertThatExceptionOfType(MalformedMessage.class).isThrownBy(() -> Protocol.status(5));
  }

  @Test
  void namesHaveOneTo255Bytes() {
    assertThat(Protocol.checkName("x".repeat(255))).hasSize(255);
    assertThatIllegalArgumentException().isThrownBy(() -> Protocol.checkName(""));
    assertThatIllegalArgumentException().isThrownBy(() -> Protocol.checkName("ö".repeat(128)));
  }
}
