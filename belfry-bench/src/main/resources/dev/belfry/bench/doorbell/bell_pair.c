/*
 * Two processes, one of which wakes the other: by an eventfd, a pipe or a socket pair. Says READY;
 * then each line "COUNT PAUSE_NANOS" is answered by COUNT numbers: the nanoseconds from before the
 * write to after the return of the read. Ends when its standard input ends.
 *
 *   bell_pair eventfd|pipe|socket
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static long long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int fds[2];
  size_t size = 1;
  if (strcmp(argv[1], "eventfd") == 0) {
    fds[0] = fds[1] = eventfd(0, 0);
    size = sizeof(uint64_t);
  } else if (strcmp(argv[1], "pipe") == 0) {
    if (pipe(fds) < 0) return 1;
  } else if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0) {
    return 1;
  }
  volatile long long *heard = mmap(
      NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (heard == MAP_FAILED) return 1;
  if (fork() == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint64_t buffer;
    while (read(fds[0], &buffer, size) > 0) {
      __atomic_store_n(heard, nanos(), __ATOMIC_RELEASE);
    }
    return 1;
  }
  printf("READY\n");
  fflush(stdout);
  int count;
  long long pause;
  while (scanf(" %d %lld", &count, &pause) == 2) {
    long long *took = calloc(count, sizeof *took);
    if (!took) return 1;
    for (int i = 0; i < count; i++) {
      struct timespec rest = {.tv_nsec = pause};
      nanosleep(&rest, NULL);
      uint64_t one = 1;
      __atomic_store_n(heard, 0, __ATOMIC_RELEASE);
      long long began = nanos();
      if (write(fds[1], &one, size) < 0) return 1;
      while (__atomic_load_n(heard, __ATOMIC_ACQUIRE) == 0) {
      }
      took[i] = *heard - began;
    }
    for (int i = 0; i < count; i++) printf(i ? " %lld" : "%lld", took[i]);
    printf("\n");
    fflush(stdout);
    free(took);
  }
  return 0;
}
