package dev.belfry.testkit;

import java.util.stream.Stream;

/** One row for each facility and each system call that can fail under it. */
final class Operations {
  private Operations() {}

  static Stream<Operation> all() {
    return Stream.concat(DescriptorOperations.all(), ProcessOperations.all());
  }
}
