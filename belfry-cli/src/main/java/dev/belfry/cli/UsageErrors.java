package dev.belfry.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Objects;
import picocli.CommandLine;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Says in two lines what is wrong with a command line, where picocli would print a whole page. */
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

  /** Picocli looks first for what is missing, which may be there once an option is put right. */
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

  /** Where a command is expected, picocli's "unmatched argument" is one that does not exist. */
  private static String superfluous(CommandLine command, String argument) {
    if (!command.getSubcommands().isEmpty()) {
      return "Unknown command '" + argument + "'.";
    }
    boolean takesText = !command.getCommandSpec().positionalParameters().isEmpty();
    return "Too many arguments, from '%s' on%s."
        .formatted(argument, takesText ? "; text with spaces goes into quotes" : "");
  }

  /** Picocli names Java's types, which mean nothing to who types a number. */
  private static String inWords(String message) {
    return message
        .replaceFirst(" is not an? (int|long)$", " is not a whole number, or is too large")
        .replaceFirst(" is not a double$", " is not a number");
  }
}
