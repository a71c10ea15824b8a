package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderProcess;

/**
 * A running server.
 *
 * @param contender its kind
 * @param process its process
 * @param port the port it listens on
 */
record EchoServer(EchoContender contender, ContenderProcess process, int port) {
  String label() {
    return contender.label;
  }
}
