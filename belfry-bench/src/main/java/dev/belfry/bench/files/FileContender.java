package dev.belfry.bench.files;

import dev.belfry.bench.harness.JavaCommand;
import dev.belfry.loop.Backend;
import java.util.Arrays;
import java.util.List;

/** Ways to read files. */
enum FileContender {
  BELFRY_IO_URING("belfry-io_uring"),
  BELFRY_EPOLL("belfry-epoll"),
  FILE_CHANNEL("file-channel"),
  /** With a thread for each read that io_uring has in flight. */
  FILE_CHANNEL_THREADS("file-channel-threads");

  /** The name on the command line and in the tables. */
  final String label;

  FileContender(String label) {
    this.label = label;
  }

  static List<String> labels() {
    return Arrays.stream(values()).map(contender -> contender.label).toList();
  }

  static FileContender of(String label) {
    return Arrays.stream(values())
        .filter(contender -> contender.label.equals(label))
        .findAny()
        .orElseThrow();
  }

  FileReads reads() {
    return switch (this) {
      case BELFRY_IO_URING -> new BelfryReads(Backend.IO_URING);
      case BELFRY_EPOLL -> new BelfryReads(Backend.EPOLL);
      case FILE_CHANNEL -> new ChannelReads(1);
      case FILE_CHANNEL_THREADS -> new ChannelReads(FileReads.AT_ONCE);
    };
  }

  /** The command that starts its process. */
  List<String> command(String file) {
    return JavaCommand.of(JavaCommand.BELFRY, FilesMain.class, label, file);
  }
}
