package dev.belfry.cli;

import java.io.IOException;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Says in one line what a command did not expect, where picocli would print a stack trace. */
final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + reason(failure));
    return command.getCommandSpec().exitCodeOnExecutionException();
  }

  /** For a fault of the program its type is named too. */
  private static String reason(Exception failure) {
    return failure instanceof IOException it ? Reason.of(it) : failure.toString();
  }
}
