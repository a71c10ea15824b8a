package dev.belfry.testkit;

import java.util.stream.Stream;

/** One operation for each facility and each system call that can fail in it. */
final class Operations {
  private Operations() {}

  static Stream<Operation> all() {
    return Stream.concat(DescriptorOperations.all(), ProcessOperations.all());
  }
}
