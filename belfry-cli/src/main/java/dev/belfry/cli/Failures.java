package dev.belfry.cli;

import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Reports an unexpected failure of a command in one line, where picocli prints a stack trace. */
final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + reason(failure));
    return command.getCommandSpec().exitCodeOnExecutionException();
  }

  /** What is not an I/O error is a bug in the program, so its type is named too. */
  private static String reason(Exception failure) {
    return failure instanceof IOException it ? Reason.of(it) : failure.toString();
  }
}
