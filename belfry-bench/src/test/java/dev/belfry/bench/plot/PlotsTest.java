package dev.belfry.bench.plot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

class PlotsTest {
  @TempDir private Path directory;

  private Document draw(String picture) throws Exception {
    try (InputStream report = PlotsTest.class.getResourceAsStream("call.json")) {
      Files.copy(Objects.requireNonNull(report), directory.resolve("call.json"));
    }
    List<Path> drawn = Plots.draw(directory);
    assertThat(drawn)
        .containsExactly(
            directory.resolve("call-callsPerSecond.svg"),
            directory.resolve("call-latencyP50Nanos.svg"));
    return DocumentBuilderFactory.newInstance()
        .newDocumentBuilder()
        .parse(directory.resolve(picture).toFile());
  }

  private static List<Element> all(Document svg, String tag, String style) {
    NodeList found = svg.getElementsByTagName(tag);
    return IntStream.range(0, found.getLength())
        .mapToObj(i -> (Element) found.item(i))
        .filter(element -> style.isEmpty() || element.getAttribute("class").equals(style))
        .toList();
  }

  private static List<String> texts(Document svg, String style) {
    return all(svg, "text", style).stream().map(Element::getTextContent).toList();
  }

  private static int width(Element bar) {
    return Integer.parseInt(bar.getAttribute("width"));
  }

  @Test
  void everyContenderHasABarAsLongAsItsMedianAndALineForItsSpread() throws Exception {
    Document svg = draw("call-callsPerSecond.svg");

    List<Element> ours = all(svg, "rect", "ours");
    List<Element> others = all(svg, "rect", "other");
    assertThat(ours).hasSize(2);
    assertThat(others).hasSize(1);
    assertThat((double) width(ours.getFirst()) / width(others.getFirst())).isBetween(80.0, 120.0);
    assertThat(all(svg, "line", "spread")).as("one has no spread").hasSize(2);
    assertThat(texts(svg, "")).contains("800,000", "8,000", "640,000");
  }

  @Test
  void circumstancesHavePanelsAndWhatTheyShareIsSaidOnce() throws Exception {
    Document svg = draw("call-callsPerSecond.svg");

    assertThat(texts(svg, "head")).containsExactly("callers 1", "callers 8");
    assertThat(texts(svg, "title")).containsExactly("Calls and their answers");
    assertThat(texts(svg, "faint"))
        .contains("Median and spread of the rounds; calls/s, more is better; payload bytes 64");
    assertThat(texts(svg, "faint end")).containsExactly("calls/s", "calls/s");
    assertThat(texts(svg, "end")).containsExactly("belfry", "grpc & <co>", "belfry");
  }

  @Test
  void valuesAreShownInTheUnitOfTheQuestion() throws Exception {
    Document svg = draw("call-latencyP50Nanos.svg");

    assertThat(texts(svg, "")).contains("0.93", "115");
    assertThat(texts(svg, "head")).containsExactly("callers 1, payload bytes 64");
  }

  @Test
  void aDirectoryWithoutReportsIsRefused() throws IOException {
    Files.writeString(directory.resolve("other.json"), "[]");

    assertThatThrownBy(() -> Plots.draw(directory))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--json");
  }

  @Test
  void scalesEndAtARoundValueThatHoldsTheGreatest() {
    assertThat(Scale.upTo(4.8, 5)).isEqualTo(new Scale(1, 5));
    assertThat(Scale.upTo(900_000, 5).end()).isEqualTo(1_000_000);
    assertThat(Scale.upTo(0.93, 5).ticks()).hasSize(6).startsWith(0);
    assertThat(Scale.upTo(0.93, 5).show(0.2)).isEqualTo("0.2");
    assertThat(Scale.upTo(900_000, 5).show(200_000)).isEqualTo("200,000");
    assertThat(Scale.upTo(0, 5).end()).isZero();
  }
}
