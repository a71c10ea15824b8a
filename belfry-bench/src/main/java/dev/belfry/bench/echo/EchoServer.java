package dev.belfry.bench.echo;

import dev.belfry.bench.harness.ContenderProcess;

/**
 * A server that is up.
 *
 * @param contender which
 * @param process its process
 * @param port where it listens
 */
record EchoServer(EchoContender contender, ContenderProcess process, int port) {
  String label() {
    return contender.label;
  }
}
