/* counter FILE NAME: prints a counter of a host, knowing nothing but docs/counters.md. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

// @start region="layout"
struct header {
  char magic[8];
  uint32_t version, fields, field_bytes, host_bytes, worker_bytes, most_workers;
  uint32_t samples_offset, sample_bytes;
  _Atomic uint64_t latest;
};

struct field {
  char name[32], unit[16];
  uint32_t part, type, offset, bytes;
};
// @end

// @start region="read"
/* Copies the latest whole sample; false if there is none. Never waits. */
static int read_sample(const struct header *h, void *copy) {
  for (int tries = 0; tries < 1000; tries++) {
    uint64_t n = h->latest;
    const char *sample = (const char *)h + h->samples_offset + (n % 2) * h->sample_bytes;
    const _Atomic uint64_t *number = (const _Atomic uint64_t *)sample;
    if (n != 0 && *number == n) {
      memcpy(copy, sample, h->sample_bytes);
      __atomic_thread_fence(__ATOMIC_ACQUIRE);
      if (*number == n) {
        return 1;
      }
    }
  }
  return 0;
}
// @end

static void print(const struct field *f, const char *value) {
  if (f->type == 1) {
    printf("%" PRId64, *(const int64_t *)value);
  } else if (f->type == 2) {
    printf("%.1f", *(const double *)value);
  } else {
    printf("%.*s", (int)f->bytes, value);
  }
  printf(f->unit[0] ? " %s\n" : "\n", f->unit);
}

int main(int argc, char **argv) {
  struct stat st;
  int fd = open(argv[1], O_RDONLY);
  if (argc != 3 || fd < 0 || fstat(fd, &st) != 0) {
    return 2;
  }
  const struct header *h = mmap(NULL, st.st_size, PROT_READ, MAP_SHARED, fd, 0);
  if (h == MAP_FAILED || memcmp(h->magic, "BELFRYCT", 8) != 0 || h->version != 1) {
    return 3;
  }
  char *sample = malloc(h->sample_bytes);
  if (!read_sample(h, sample)) {
    return 4;
  }
  const char *host = sample + 8;
  int64_t workers = 0;
  for (uint32_t i = 0; i < h->fields; i++) {
    const struct field *f = (const void *)((const char *)h + 64 + i * h->field_bytes);
    if (strcmp(f->name, "workers") == 0) {
      workers = *(const int64_t *)(host + f->offset);
    }
    if (strcmp(f->name, argv[2]) == 0) {
      for (int64_t w = 0; w < (f->part == 0 ? 1 : workers); w++) {
        const char *part = f->part == 0 ? host : host + h->host_bytes + w * h->worker_bytes;
        print(f, part + f->offset);
      }
      return 0;
    }
  }
  return 1;
}
