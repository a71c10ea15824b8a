package dev.belfry.cli.call;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.belfry.gateway.GatewayError;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Base64;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A gateway's reply to a call. */
final class Reply {
  private static final int OK = 200;
  private static final long NANOS_PER_MICRO = 1000;

  private final int status;
  private final byte[] body;
  private final long nanos;

  Reply(int status, byte[] body, long nanos) {
    this.status = status;
    this.body = body;
    this.nanos = nanos;
  }

  /** Whether the method answered; the body is then its answer. */
  boolean isAnswer() {
    return status == OK;
  }

  byte[] body() {
    return body;
  }

  /** Tells people why there is no answer: the gateway's message and the worker's last output. */
  String toText() {
    JsonNode error = error();
    String tail = error.path("worker").path("error_tail").asString("");
    String word = error.path("error").asString("unknown");
    String message = error.path("message").asString("no answer, and no reason that can be read");
    String told = message;
    if (word.equals(GatewayError.UNAUTHORIZED.word())) {
      told = message + "; --token-file says where it is";
    } else if (word.equals(GatewayError.NOT_FOUND.word())) { // a gateway knows the path of calls
      told = "this is not a gateway: " + message;
    } else if (word.equals(GatewayError.CIRCUIT_OPEN.word())) {
      told = message + "; once the cause is fixed: belfry signal HOST USR2";
    }
    return "%s (%d %s)%s"
        .formatted(
            told,
            status,
            word,
            tail.isBlank() ? "" : "\n" + tail.stripTrailing().indent(2).stripTrailing());
  }

  /**
   * Returns the reply for programs: {@code http_status}, {@code micros} and the {@code answer}, in
   * Base64 as {@code answer_base64} if it is not UTF-8; without an answer, the gateway's error.
   */
  String toJson() {
    ObjectNode json = JsonMapper.shared().createObjectNode();
    json.put("http_status", status).put("micros", nanos / NANOS_PER_MICRO);
    if (!isAnswer()) {
      json.setAll(error());
    } else {
      json.put("status", "ok");
      try {
        json.put("answer", UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString());
      } catch (CharacterCodingException e) {
        json.put("answer_base64", Base64.getEncoder().encodeToString(body));
      }
    }
    return json.toString();
  }

  /** Tells programs why there is no reply, in the form of a gateway's error. */
  static String absentAsJson(String error, String message) {
    return JsonMapper.shared()
        .createObjectNode()
        .put("status", "error")
        .put("error", error)
        .put("message", message)
        .toString();
  }

  /** Returns the gateway's error; empty if the server is not a gateway. */
  private ObjectNode error() {
    try {
      if (JsonMapper.shared().readTree(body) instanceof ObjectNode error) {
        return error;
      }
    } catch (JacksonException e) {
      // Not a gateway.
    }
    return JsonMapper.shared().createObjectNode();
  }
}
