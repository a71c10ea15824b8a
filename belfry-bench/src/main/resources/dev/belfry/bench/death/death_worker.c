/*
 * A worker to be killed: touches MEGABYTES of memory, says READY and its process id, and sleeps.
 *
 *   death_worker MEGABYTES
 *   death_worker MEGABYTES --hub-path=PATH --peer-id=N --doorbell-fd=N
 *
 * With a ticket it attaches as a guest in the padded placement first: locks the robust mutex of its
 * entry, sets the entry from Reserved to Attached, and rings.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

enum { PEER_TABLE = 128, ENTRY_BYTES = 12 * 128, MUTEX_BLOCK = 11 * 128 };
enum { RESERVED = 3, ATTACHED = 1 };

static const char *option(int argc, char **argv, const char *name) {
  for (int i = 2; i < argc; i++) {
    if (strncmp(argv[i], name, strlen(name)) == 0) return argv[i] + strlen(name);
  }
  return NULL;
}

static int attach(const char *path, int peer, int bell) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int fd = open(path, O_RDWR | O_CLOEXEC);
  struct stat status;
  if (fd < 0 || fstat(fd, &status) < 0) return -1;
  char *segment = mmap(NULL, status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (segment == MAP_FAILED) return -1;
  char *entry = segment + PEER_TABLE + (peer - 1) * ENTRY_BYTES;
  if (pthread_mutex_trylock((pthread_mutex_t *)(entry + MUTEX_BLOCK)) != 0) return -1;
  uint64_t *pair = (uint64_t *)entry;
  uint64_t now = __atomic_load_n(pair, __ATOMIC_ACQUIRE);
  uint64_t next = (now & ~0xffffffffULL) | ATTACHED;
  if ((uint32_t)now != RESERVED || !__atomic_compare_exchange_n(
      pair, &now, next, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return -1;
  return send(bell, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -1;
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  size_t bytes = strtoul(argv[1], NULL, 10) << 20;
  char *memory = malloc(bytes);
  if (!memory) return 1;
  memset(memory, 1, bytes);
  const char *path = option(argc, argv, "--hub-path=");
  if (path) {
    int peer = atoi(option(argc, argv, "--peer-id="));
    int bell = atoi(option(argc, argv, "--doorbell-fd="));
    if (attach(path, peer, bell) < 0) {
      perror("attach");
      return 1;
    }
  }
  printf("READY %d\n", getpid());
  fflush(stdout);
  while (1) pause();
}
