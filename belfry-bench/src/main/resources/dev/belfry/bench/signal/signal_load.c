/*
 * Sends signals to a process and sees how long each takes to its handler. Both map one file of
 * 64-bit words: word 0 is the number of the paced signal that is under way, word 1 counts the
 * queued signals that came out of order, and from word 8 on stands for each number when its handler
 * ran, on CLOCK_MONOTONIC.
 *
 *   signal_load FILE PID paced COUNT PAUSE   USR1 by kill, the next when the one before was handled
 *   signal_load FILE PID burst COUNT PAUSE   COUNT times SIZE realtime signals by sigqueue
 *   signal_load FILE PID flood COUNT PAUSE   COUNT realtime signals, as fast as sigqueue takes them
 *
 * PAUSE is the nanoseconds before each signal, each burst and the flood.
 * Prints: p50 and p99 of the nanoseconds, how many were lost, how many out of order, signals/s.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SIZE 100
#define MOST 100000
#define LOOK_NANOS 100000
#define PATIENCE_NANOS 5000000000LL

static _Atomic long long *words;
static long long sent[MOST];
static long long *taken;
static long taken_count, lost;

static long long nanos(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void rest(long pause) {
  nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
}

/* Waits for the handler of one signal, asleep most of the time: the processor is the receiver's. */
static void await(int number) {
  long long until = nanos() + PATIENCE_NANOS;
  while (atomic_load(&words[8 + number]) == 0 && nanos() < until) rest(LOOK_NANOS);
}

static void collect(int count) {
  for (int i = 0; i < count; i++) {
    long long when = atomic_exchange(&words[8 + i], 0);
    if (when == 0)
      lost++;
    else
      taken[taken_count++] = when - sent[i];
  }
}

static void queue(pid_t pid, int count) {
  for (int i = 0; i < count; i++) {
    sent[i] = nanos();
    while (sigqueue(pid, SIGRTMIN + 6, (union sigval){.sival_int = i}) != 0) {
      if (errno != EAGAIN) {
        perror("sigqueue");
        exit(1);
      }
      sched_yield(); /* the receiver's queue is full */
    }
  }
}

static int by_size(const void *a, const void *b) {
  long long x = *(const long long *)a, y = *(const long long *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc != 6) return 2;
  int fd = open(argv[1], O_RDWR | O_CLOEXEC);
  size_t bytes = (8 + MOST) * sizeof(long long);
  words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (fd < 0 || words == MAP_FAILED) {
    perror(argv[1]);
    return 1;
  }
  memset((void *)words, 0, bytes); /* also what a sender before us had given up */
  pid_t pid = atoi(argv[2]);
  long pause = atol(argv[5]);
  int count = atoi(argv[4]), paced = !strcmp(argv[3], "paced"), burst = !strcmp(argv[3], "burst");
  taken = calloc(burst ? (size_t)count * SIZE : (size_t)count, sizeof *taken);
  if (!taken || count > MOST) return 1;
  long long began = nanos(), busy = 0;
  long total = burst ? (long)count * SIZE : count;
  if (paced || burst) {
    for (int i = 0; i < count; i++) {
      rest(pause);
      long long start = nanos();
      if (paced) {
        atomic_store(&words[0], 0);
        sent[0] = nanos();
        if (kill(pid, SIGUSR1) != 0) return 1;
        await(0);
        collect(1);
      } else {
        queue(pid, SIZE);
        await(SIZE - 1);
        long long last = atomic_load(&words[8 + SIZE - 1]);
        busy += (last ? last : nanos()) - start;
        collect(SIZE);
      }
    }
  } else {
    queue(pid, count);
    await(count - 1);
    long long last = atomic_load(&words[8 + count - 1]);
    busy = (last ? last : nanos()) - began;
    collect(count);
  }
  if (taken_count == 0) return 1;
  qsort(taken, taken_count, sizeof *taken, by_size);
  printf("%lld %lld %ld %lld %.0f\n", taken[(taken_count - 1) / 2],
         taken[(taken_count - 1) * 99 / 100], lost, (long long)atomic_load(&words[1]),
         busy ? total * 1e9 / busy : 0.0);
  return 0;
}
