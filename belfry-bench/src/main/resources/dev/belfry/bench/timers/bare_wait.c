/*
 * The yardstick for lateness: epoll_pwait2 on nothing. Says READY; then each line "lateness COUNT
 * DELAY_NANOS" is answered by COUNT numbers, how many nanoseconds after the delay the call came
 * back. Ends when its standard input ends.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(void) {
  int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  printf("READY\n");
  fflush(stdout);
  int count;
  long long delay;
  while (scanf(" lateness %d %lld", &count, &delay) == 2) {
    long long *late = calloc(count, sizeof *late);
    if (!late) return 1;
    struct timespec timeout = {.tv_sec = delay / 1000000000LL, .tv_nsec = delay % 1000000000LL};
    for (int i = 0; i < count; i++) {
      struct epoll_event event;
      long long began = nanos();
      if (syscall(SYS_epoll_pwait2, epoll_fd, &event, 1, &timeout, NULL, 8) != 0) {
        perror("epoll_pwait2");
        return 1;
      }
      late[i] = nanos() - began - delay;
    }
    for (int i = 0; i < count; i++) printf(i ? " %lld" : "%lld", late[i]);
    printf("\n");
    fflush(stdout);
    free(late);
  }
  return 0;
}
