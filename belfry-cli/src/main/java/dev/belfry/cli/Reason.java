package dev.belfry.cli;

import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import org.jspecify.annotations.Nullable;

/** Says what went wrong, for people: an exception's message may be no more than a file name. */
public final class Reason {
  private Reason() {}

  /** Returns the reason as one sentence without a full stop. */
  public static String of(Exception e) {
    @Nullable String message = e.getMessage();
    return switch (e) {
      case NoSuchFileException it -> "there is no file " + it.getFile();
      case AccessDeniedException it -> it.getFile() + ": permission denied";
      case NotDirectoryException it -> it.getFile() + " is not a directory";
      case FileAlreadyExistsException it -> it.getFile() + " is there already";
      case FileSystemException it when it.getReason() == null -> it.toString();
      case CharacterCodingException _ -> "this is not UTF-8 text";
      default -> message != null ? message : e.toString();
    };
  }
}
