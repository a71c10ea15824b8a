/*
 * Starts a worker, waits for its READY line, passes that on, and says in nanoseconds of the
 * monotonic clock when it knew of the worker's death:
 *
 *   death_watch pidfd COMMAND ARGS...    by poll on a pidfd
 *   death_watch socket COMMAND ARGS...   by the end of a socket whose other end the worker has
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (argc < 3) return 2;
  int sockets[2], output[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0 || pipe(output) < 0) return 1;
  pid_t child = fork();
  if (child == 0) {
    dup2(output[1], 1);
    close(output[0]);
    close(output[1]);
    if (dup(sockets[1]) < 0) _exit(127); /* this one without close-on-exec */
    execvp(argv[2], argv + 2);
    _exit(127);
  }
  close(output[1]);
  close(sockets[1]);
  int pidfd = syscall(SYS_pidfd_open, child, 0);
  if (child < 0 || pidfd < 0) return 1;
  char line[128];
  FILE *said = fdopen(output[0], "r");
  if (!said || !fgets(line, sizeof line, said)) return 1;
  fputs(line, stdout);
  fflush(stdout);
  struct pollfd wait = {.fd = strcmp(argv[1], "pidfd") == 0 ? pidfd : sockets[0], .events = POLLIN};
  while (poll(&wait, 1, -1) < 1) {
  }
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  printf("%lld\n", now.tv_sec * 1000000000LL + now.tv_nsec);
  fflush(stdout);
  waitpid(child, NULL, 0);
  return 0;
}
