package dev.belfry.cli;

import dev.belfry.cli.Diagnosis.Finding;
import dev.belfry.cli.Diagnosis.Machine;
import dev.belfry.cli.Diagnosis.SignalMaskState;
import java.io.PrintWriter;
import picocli.CommandLine.Help.Ansi;

/** Prints a diagnosis for people. */
final class DiagnosisText {
  private final Ansi ansi;

  DiagnosisText(Ansi ansi) {
    this.ansi = ansi;
  }

  void print(Diagnosis diagnosis, PrintWriter out) {
    Machine machine = diagnosis.machine();
    out.println("Belfry    " + diagnosis.belfry());
    out.println("Java      " + machine.java());
    out.println("Kernel    " + machine.kernel() + ", " + machine.architecture());
    out.println("C library " + machine.libc());

    heading(out, "Needed");
    diagnosis.facilities().stream().filter(Finding::needed).forEach(it -> line(out, it));
    signalMask(out, diagnosis.signalMask());

    heading(out, "Optional");
    diagnosis.facilities().stream().filter(it -> !it.needed()).forEach(it -> line(out, it));
    line(out, diagnosis.virtualThreadsOnLoop());

    out.println();
    out.println(
        diagnosis.ok()
            ? styled("bold,green", "Everything that Belfry needs is there.")
            : styled("bold,red", "Something that Belfry needs is missing: see above."));
  }

  private void signalMask(PrintWriter out, SignalMaskState mask) {
    String text;
    if (mask.blockedInAllThreads()) {
      text = "blocked in all " + mask.threads() + " threads";
    } else {
      text = mask.cause() != null ? mask.cause() : "start with ./belfry; not blocked in:";
    }
    line(out, mask.blockedInAllThreads(), true, "signal_mask", text);
    mask.gaps()
        .forEach(
            gap ->
                out.printf(
                    "         %s (%d): %s%n",
                    gap.thread(), gap.tid(), String.join(", ", gap.unblocked())));
  }

  private void line(PrintWriter out, Finding finding) {
    String cause = finding.cause();
    line(
        out,
        finding.available(),
        finding.needed(),
        finding.name(),
        cause == null ? finding.purpose() : cause);
  }

  private void line(PrintWriter out, boolean yes, boolean needed, String name, String text) {
    String mark = yes ? styled("green", "yes") : styled(needed ? "bold,red" : "yellow", "no ");
    out.printf("  %s  %-26s %s%n", mark, name, text);
  }

  private void heading(PrintWriter out, String text) {
    out.println();
    out.println(styled("bold", text));
  }

  private String styled(String style, String text) {
    return ansi.string("@|" + style + " " + text + "|@");
  }
}
