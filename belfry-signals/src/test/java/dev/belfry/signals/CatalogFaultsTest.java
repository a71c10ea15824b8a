package dev.belfry.signals;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.networknt.schema.InputFormat;
import com.networknt.schema.Schema;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.databind.json.JsonMapper;

/** The loader rejects what the schema rejects, and inconsistencies that a schema cannot express. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
final class CatalogFaultsTest {
  private Schema schema;

  @BeforeAll
  void loadSchema() throws Exception {
    try (var resource = SignalCatalog.class.getResourceAsStream("signals.schema.json")) {
      schema =
          SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
              .getSchema(
                  new String(resource.readAllBytes(), StandardCharsets.UTF_8), InputFormat.JSON);
    }
  }

  /**
   * A defect put into the bundled catalog.
   *
   * @param text the text whose first occurrence is replaced
   * @param by the replacement
   * @param field the field that the fault names
   * @param reason part of the fault's reason
   */
  record Defect(String text, String by, String field, String reason) {
    @Override
    public String toString() {
      return field + " " + by.strip();
    }
  }

  static Stream<Defect> defectsOfTheSchema() {
    return Stream.of(
        new Defect("description: What", "descripton: What", "", "lacks the field description"),
        new Defect("version: v1.0.0", "version: one", "version", "must match"),
        new Defect("version: v1.0.0", "version: 3", "version", "must be a string"),
        new Defect("version: v1", "extra: true\nversion: v1", "extra", "not a field"),
        new Defect("id: term", "id: -term", "signals[0].id", "must match"),
        new Defect("name: SIGTERM", "name: Term", "signals[0].name", "must match"),
        new Defect("unix_number: 15", "unix_number: 65", "signals[0].unix_number", "1 and 64"),
        new Defect("unix_number: 15", "unix_number: 0", "signals[0].unix_number", "1 and 64"),
        new Defect("unix_number: 15", "unix_number: '15'", "signals[0].unix_number", "whole"),
        new Defect("unix_number: 15", "unix_number: 1.5", "signals[0].unix_number", "whole"),
        new Defect("darwin: 30", "openbsd: 30", "signals[6].platform_overrides.openbsd", "field"),
        new Defect("darwin: 30", "darwin: 99", "signals[6].platform_overrides.darwin", "64"),
        new Defect(
            "windows_event: CTRL_C_EVENT",
            "windows_event: 3",
            "signals[1].windows_event",
            "string"),
        new Defect("exit_code: 143", "exit_code: 300", "signals[0].exit_code", "0 and 255"),
        new Defect("exit_code: 143", "exit_code: -1", "signals[0].exit_code", "0 and 255"),
        new Defect(
            "default_behavior: immediate_exit",
            "default_behavior: vanish",
            "signals[3].default_behavior",
            "must be one of"),
        new Defect(
            "timeout_seconds: 30",
            "timeout_seconds: -3",
            "signals[0].timeout_seconds",
            "at least 0"),
        new Defect(
            "cleanup_actions: []",
            "cleanup_actions: none",
            "signals[8].cleanup_actions",
            "must be a list"),
        new Defect(
            "cleanup_actions: []",
            "cleanup_actions: [1]",
            "signals[8].cleanup_actions[0]",
            "must be a string"),
        new Defect(
            "double_tap_behavior: immediate_exit",
            "double_tap_behavior: custom",
            "signals[1].double_tap_behavior",
            "must be one of"),
        new Defect(
            "reload_strategy: restart_based",
            "reload_strategy: hot",
            "signals[2].reload_strategy",
            "must be one of"),
        new Defect(
            "validation_required: true",
            "validation_required: maybe",
            "signals[2].validation_required",
            "true or false"),
        new Defect(
            "fallback_behavior: timer_api",
            "fallback_behavior: prayer",
            "signals[5].windows_fallback.fallback_behavior",
            "must be one of"),
        new Defect(
            "log_level: INFO",
            "log_level: LOUD",
            "signals[2].windows_fallback.log_level",
            "must be one of"),
        new Defect(
            "      operation_hint: \"POST /admin/signal with signal=HUP\"\n",
            "",
            "signals[2].windows_fallback",
            "lacks the field operation_hint"),
        new Defect(
            "        platform: windows",
            "        platform: 7",
            "signals[2].windows_fallback.telemetry_tags.platform",
            "must be a string"),
        new Defect(
            "  - id: graceful_shutdown\n", "  - id: Graceful\n", "behaviors[0].id", "must match"),
        new Defect("    name: Observe only\n", "", "behaviors[5]", "lacks the field name"),
        new Defect("SIGTERM: 15", "SIGTERM: many", "os_mappings.unix.SIGTERM", "whole number"),
        new Defect(
            "  signal_to_event:",
            "  signal_to_event: []\n  other:",
            "os_mappings",
            "must be a mapping"),
        new Defect("macos: native", "macos: mapped", "platform_support[0].macos", "must be one"),
        new Defect("    windows: mapped\n", "", "platform_support[0]", "lacks the field windows"),
        new Defect("  SIGHUP: 129\n", "", "exit_codes", "lacks the field SIGHUP"),
        new Defect("  SIGHUP: 129\n", "  SIGHUP: 999\n", "exit_codes.SIGHUP", "0 and 255"),
        new Defect("  note: 128", "  remark: x\n  note: 128", "exit_codes.remark", "neither"));
  }

  static Stream<Defect> defectsBeyondTheSchema() {
    return Stream.of(
        new Defect("exit_code: 143", "exit_code: 15", "signals[0].exit_code", "must be 143"),
        new Defect(
            "double_tap_exit_code: 130",
            "double_tap_exit_code: 1",
            "signals[1].double_tap_exit_code",
            "must be 130"),
        new Defect("id: int", "id: term", "signals[1].id", "already that of line"),
        new Defect("name: SIGINT", "name: SIGTERM", "signals[1].name", "already that of line"),
        new Defect("unix_number: 15", "unix_number: 13", "signals[4].unix_number", "already that"),
        new Defect("darwin: 30", "darwin: 31", "signals[7].unix_number", "31 on darwin is already"),
        new Defect(
            "  - id: custom\n",
            "  - id: customary\n",
            "signals[5].default_behavior",
            "custom is not among the behaviors"),
        new Defect(
            "    double_tap_window_seconds: 2\n",
            "",
            "signals[1]",
            "lacks double_tap_window_seconds"),
        new Defect(
            "validation_required: true",
            "validation_required: false",
            "signals[2].validation_required",
            "without validation"),
        new Defect("SIGTERM: 15", "SIGTERM: 16", "os_mappings.unix.SIGTERM", "must be 15"),
        new Defect(
            "      SIGUSR1: 30",
            "      SIGUSR1: 29",
            "os_mappings.platform_overrides.darwin.SIGUSR1",
            "must be 30"),
        new Defect(
            "SIGTERM: CTRL_CLOSE_EVENT",
            "SIGTERM: CTRL_C_EVENT",
            "os_mappings.signal_to_event.SIGTERM",
            "does not agree"),
        new Defect(
            "    CTRL_BREAK_EVENT: 1\n",
            "",
            "signals[3].windows_event",
            "not among os_mappings.windows"),
        new Defect("SIGTERM: 143", "SIGTERM: 144", "exit_codes.SIGTERM", "must be 143"),
        new Defect(
            "  SIGTERM: 143",
            "  SIGFOO: 143\n  SIGTERM: 143",
            "exit_codes.SIGFOO",
            "not among the signals"),
        new Defect(
            "- signal: SIGINT",
            "- signal: SIGTERM",
            "platform_support[1].signal",
            "has a row already"),
        new Defect(
            "- signal: SIGINT",
            "- signal: SIGFOO",
            "platform_support[1].signal",
            "not among the signals"));
  }

  // r[verify signals.catalog.schema]
  @Test
  void schemaAndLoaderAcceptTheBundledCatalog() throws Exception {
    String text = SignalCatalogTest.bundledText();
    assertThat(schemaAccepts(text)).isTrue();
    assertThat(SignalCatalog.parse(text, "bundled").names()).hasSize(9);
  }

  @ParameterizedTest
  @MethodSource("defectsOfTheSchema")
  void bothRefuseWhatTheSchemaCovers(Defect defect) throws Exception {
    String text = apply(defect);
    assertThat(schemaAccepts(text)).as("the schema accepts it").isFalse();
    assertThatTheLoaderFinds(defect, text);
  }

  @ParameterizedTest
  @MethodSource("defectsBeyondTheSchema")
  void theLoaderRefusesWhatTheSchemaCannotSay(Defect defect) throws Exception {
    String text = apply(defect);
    assertThat(schemaAccepts(text)).as("the schema accepts it").isTrue();
    assertThatTheLoaderFinds(defect, text);
  }

  @Test
  void aNameThatComesTwiceIsAFault() throws Exception {
    List<CatalogFault> faults =
        faults(
            SignalCatalogTest.bundledText()
                .replaceFirst("exit_code: 143", "exit_code: 143\n    exit_code: 143"));
    assertThat(faults)
        .singleElement()
        .satisfies(
            fault -> {
              assertThat(fault.field()).isEqualTo("signals[0].exit_code");
              assertThat(fault.reason()).isEqualTo("is there twice");
            });
  }

  @Test
  void whatIsNoYamlFailsAsSuch() {
    assertThat(faults("signals: [a\nb: }"))
        .singleElement()
        .satisfies(fault -> assertThat(fault.reason()).startsWith("this is not YAML"));
    assertThat(faults(""))
        .extracting(CatalogFault::reason)
        .containsExactly("the document is empty");
    assertThat(faults("- a list")).extracting(CatalogFault::reason).contains("must be a mapping");
  }

  @Test
  void everyFaultIsFoundInOneGo() throws Exception {
    String text =
        SignalCatalogTest.bundledText()
            .replaceFirst("exit_code: 143", "exit_code: 999")
            .replaceFirst("name: SIGINT", "name: sigint")
            .replaceFirst("log_level: INFO", "log_level: LOUD");
    assertThat(faults(text))
        .extracting(CatalogFault::field)
        .containsExactly(
            "signals[0].exit_code", "signals[1].name", "signals[2].windows_fallback.log_level");
  }

  private static String apply(Defect defect) throws Exception {
    String text = SignalCatalogTest.bundledText();
    assertThat(text).contains(defect.text);
    int at = text.indexOf(defect.text);
    return text.substring(0, at) + defect.by + text.substring(at + defect.text.length());
  }

  private static void assertThatTheLoaderFinds(Defect defect, String text) {
    List<CatalogFault> faults = faults(text);
    assertThat(faults)
        .anySatisfy(
            fault -> {
              assertThat(fault.field()).startsWith(defect.field);
              assertThat(fault.reason()).contains(defect.reason);
              assertThat(lineOf(text, fault)).contains(key(fault));
            });
  }

  /** The line that a fault names; for a whole mapping, that of its first field. */
  private static String lineOf(String text, CatalogFault fault) {
    return text.lines().toList().get(fault.line() - 1);
  }

  private static String key(CatalogFault fault) {
    boolean wholeMapping = fault.reason().startsWith("lacks") || fault.field().endsWith("]");
    return wholeMapping ? ":" : fault.field().replaceFirst(".*\\.", "");
  }

  private static List<CatalogFault> faults(String text) {
    CatalogException refused =
        catchThrowableOfType(CatalogException.class, () -> SignalCatalog.parse(text, "test"));
    assertThat(refused).as("it was accepted").isNotNull();
    assertThat(refused.getMessage()).startsWith("test is not a valid catalog:\n  line ");
    return refused.faults();
  }

  private boolean schemaAccepts(String yaml) {
    Object value = new Load(LoadSettings.builder().build()).loadFromString(yaml);
    return schema
        .validate(JsonMapper.shared().writeValueAsString(value), InputFormat.JSON)
        .isEmpty();
  }
}
