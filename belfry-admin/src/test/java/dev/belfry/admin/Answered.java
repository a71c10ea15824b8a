package dev.belfry.admin;

import java.util.Map;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What a client was answered; the names of headers are in small letters. */
record Answered(int status, Map<String, String> headers, String body) {
  JsonNode json() {
    return JsonMapper.shared().readTree(body);
  }

  String header(String name) {
    return headers.getOrDefault(name, "");
  }
}
