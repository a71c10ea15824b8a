package dev.belfry.cli;

import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.ParseResult;

/** Says in one line what a command did not expect, where picocli would print a stack trace. */
final class Failures implements IExecutionExceptionHandler {
  @Override
  public int handleExecutionException(Exception failure, CommandLine command, ParseResult parsed) {
    command.getErr().println(command.getCommandSpec().qualifiedName() + ": " + failure);
    return command.getCommandSpec().exitCodeOnExecutionException();
  }
}
