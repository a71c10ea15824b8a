package dev.belfry.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Reports a wrong command line in two lines, where picocli prints the whole usage. */
final class UsageErrors implements IParameterExceptionHandler {
  @Override
  public int handleParseException(ParameterException seen, String[] args) {
    CommandLine command = seen.getCommandLine();
    ParameterException wrong = withUnknownOption(seen);
    String name = command.getCommandSpec().qualifiedName();
    PrintWriter err = command.getErr();
    err.println(name + ": " + what(wrong));
    UnmatchedArgumentException.printSuggestions(wrong, err);
    err.println("Try '" + name + " --help'.");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  /**
   * Prefers an unknown option to a missing parameter, which picocli reports though both are wrong.
   */
  private static ParameterException withUnknownOption(ParameterException seen) {
    if (seen instanceof MissingParameterException) {
      List<String> unmatched = seen.getCommandLine().getUnmatchedArguments();
      var unknown = new UnmatchedArgumentException(seen.getCommandLine(), unmatched);
      return !unmatched.isEmpty() && unknown.isUnknownOption() ? unknown : seen;
    }
    return seen;
  }

  private static String what(ParameterException wrong) {
    return wrong instanceof UnmatchedArgumentException it && !it.isUnknownOption()
        ? superfluous(wrong.getCommandLine(), it.getUnmatched().getFirst())
        : inWords(Objects.toString(wrong.getMessage()));
  }

  /** Words picocli's "unmatched argument", which is an unknown command where one is expected. */
  private static String superfluous(CommandLine command, String argument) {
    if (!command.getSubcommands().isEmpty()) {
      return "Unknown command '" + argument + "'.";
    }
    boolean takesText = !command.getCommandSpec().positionalParameters().isEmpty();
    return "Too many arguments, from '%s' on%s."
        .formatted(argument, takesText ? "; text with spaces goes into quotes" : "");
  }

  /** Replaces Java's type names, which mean nothing to users. */
  private static String inWords(String message) {
    return message
        .replaceFirst(" is not an? (int|long)$", " is not a whole number, or is too large")
        .replaceFirst(" is not a double$", " is not a number");
  }
}
