/*
 * The yardstick: signals from a signalfd in an epoll loop. Notes in the file of signal_load.c when
 * each was handled. A second argument is the number of idle threads to have beside: the kernel asks
 * each thread of a process whether it takes a signal. Says READY; ends when its standard input does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define MOST 100000
#define RECORDS 64

static long long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void *idle(void *nothing) {
  while (1) pause();
  return nothing;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  int file = open(argv[1], O_RDWR | O_CLOEXEC);
  _Atomic long long *words = mmap(NULL, (8 + MOST) * sizeof(long long), PROT_READ | PROT_WRITE,
                                  MAP_SHARED, file, 0);
  if (file < 0 || words == MAP_FAILED) {
    perror(argv[1]);
    return 1;
  }
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  sigaddset(&set, SIGRTMIN + 6);
  sigprocmask(SIG_BLOCK, &set, NULL);
  for (int left = argc > 2 ? atoi(argv[2]) : 0; left > 0; left--) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, idle, NULL) != 0) return 1;
  }
  int signals = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC), epoll = epoll_create1(EPOLL_CLOEXEC);
  epoll_ctl(epoll, EPOLL_CTL_ADD, signals,
            &(struct epoll_event){.events = EPOLLIN | EPOLLET, .data.fd = signals});
  epoll_ctl(epoll, EPOLL_CTL_ADD, 0, &(struct epoll_event){.events = EPOLLIN, .data.fd = 0});
  printf("READY\n");
  fflush(stdout);
  int expected = 0;
  while (1) {
    struct epoll_event events[16];
    int ready = epoll_wait(epoll, events, 16, -1);
    for (int e = 0; e < ready; e++) {
      if (events[e].data.fd == 0) {
        char byte;
        if (read(0, &byte, 1) <= 0) return 0;
        continue;
      }
      struct signalfd_siginfo records[RECORDS];
      ssize_t bytes;
      while ((bytes = read(signals, records, sizeof records)) > 0) {
        for (size_t i = 0; i < bytes / sizeof *records; i++) {
          long long now = nanos();
          if (records[i].ssi_signo == SIGUSR1) {
            atomic_store(&words[8 + atomic_load(&words[0])], now);
          } else {
            int number = records[i].ssi_int;
            if (number != 0 && number != expected) atomic_fetch_add(&words[1], 1);
            expected = number + 1;
            atomic_store(&words[8 + number], now);
          }
        }
        if ((size_t)bytes < sizeof records) break;
      }
    }
  }
}
