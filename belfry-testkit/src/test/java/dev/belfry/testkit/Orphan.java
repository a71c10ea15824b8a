package dev.belfry.testkit;

import dev.belfry.linux.Processes;
import dev.belfry.linux.Signo;
import dev.belfry.linux.Sys;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A JVM that asks to die with its parent, or does not. If it lives to see the end of its input, it
 * writes its parent's id to a file.
 */
final class Orphan {
  private Orphan() {}

  public static void main(String[] args) throws Exception {
    Sys sys = Sys.forAnyThread();
    Processes.setParentDeathSignal(sys, args[0].equals("die") ? Signo.KILL : 0);
    System.out.println("child of " + Processes.parent(sys));
    System.out.println("pid " + ProcessHandle.current().pid());
    System.in.readAllBytes();
    Files.writeString(Path.of(args[1]), Integer.toString(Processes.parent(sys)));
  }
}
