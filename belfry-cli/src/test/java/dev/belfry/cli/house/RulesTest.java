package dev.belfry.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** The rules of this project; see {@code docs/spec/README.md}. */
final class RulesTest {
  @Test
  void everyRuleIsBuiltOrPendingOrSetAside() throws IOException {
    Rules rules = Rules.of(Project.current());
    System.out.print(rules.table());
    if (!rules.hasHistory()) {
      System.out.println("no git history: not checked that the pending rules only get fewer");
    }
    assertThat(rules.problems()).isEmpty();
  }
}
