package dev.belfry.cli;

import java.io.PrintWriter;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says in two lines what is wrong with a command line, where picocli would print a whole page. */
final class UsageErrors implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException wrong, String[] args) {
    CommandLine command = wrong.getCommandLine();
    String name = command.getCommandSpec().qualifiedName();
    PrintWriter err = command.getErr();
    err.println(name + ": " + what(wrong));
    UnmatchedArgumentException.printSuggestions(wrong, err);
    err.println("Try '" + name + " --help'.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /** Where a command is expected, picocli's "unmatched argument" is one that does not exist. */
  private static String what(ParameterException wrong) {
    boolean commandExpected = !wrong.getCommandLine().getSubcommands().isEmpty();
    return wrong instanceof UnmatchedArgumentException it
            && commandExpected
            && !it.isUnknownOption()
        ? "Unknown command '" + it.getUnmatched().getFirst() + "'."
        : Objects.toString(wrong.getMessage());
  }
}
