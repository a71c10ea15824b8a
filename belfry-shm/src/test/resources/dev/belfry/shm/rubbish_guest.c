/*
 * A guest that attaches with its ticket and then writes what no guest may: a message of kind 99,
 * and a head far beyond its ring. Then it waits to be killed.
 *
 *   rubbish_guest V1|PADDED --hub-path=PATH --peer-id=N --doorbell-fd=N
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv) {
  int padded = argc > 1 && strcmp(argv[1], "PADDED") == 0;
  int peer = 0, bell = 0;
  char path[256] = "";
  for (int i = 2; i < argc; i++) {
    sscanf(argv[i], "--hub-path=%255s", path);
    sscanf(argv[i], "--peer-id=%d", &peer);
    sscanf(argv[i], "--doorbell-fd=%d", &bell);
  }
  int fd = open(path, O_RDWR);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) return 1;
  char *segment = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (segment == MAP_FAILED) return 1;
  char *entry = segment + 128 + (peer - 1) * (padded ? 12 * 128 : 64);
  char *ring = segment + *(uint64_t *)(entry + (padded ? 6 * 128 : 32));
  uint64_t *pair = (uint64_t *)entry;
  if (padded && pthread_mutex_trylock((pthread_mutex_t *)(entry + 11 * 128)) != 0) return 1;
  *(volatile uint64_t *)pair = (*pair & ~0xffffffffULL) | 1; /* Attached */
  if (send(bell, "", 1, MSG_NOSIGNAL) != 1) return 1;
  *(volatile uint64_t *)ring = 0x80000000ULL | 99;
  *(volatile uint32_t *)(entry + (padded ? 128 : 8)) = 4711;
  if (send(bell, "", 1, MSG_NOSIGNAL) != 1) return 1;
  while (1) pause();
}
