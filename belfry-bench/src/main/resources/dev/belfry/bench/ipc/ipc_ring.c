// The control for the rings in Java: the same ring, the same descriptors, pockets and slots, in C.
//
//   ipc_ring ROLE MODE PATH BYTES BATCH
//
// ROLE  echo or sink (makes the file and answers or swallows), ping or source (measures)
// MODE  spin, adaptive (spins, then sleeps on a futex), futex (sleeps at once), or word: no ring,
//       one word goes there and back, which nothing that looks at memory can be faster than
// BATCH how many messages are published with one store of the head
//
// Says READY; a measuring process then answers each line "SECONDS" by a number: nanoseconds for a
// round trip (the median of many short bursts), or messages a second.
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { MAX_SIZE = 65536, SLOTS = 16, SLOT_BYTES = 65600, INLINE = 96, FIRST_LINE = 32, SPIN_NANOS = 50000 };
enum { POCKETS = 256, POCKET_BYTES = 1152 };
enum { AWAKE, ASLEEP, SPINS };

typedef struct { _Alignas(128) _Atomic uint32_t word; } line;

typedef struct {
  _Atomic uint64_t first;  // kind, lap mark, id: written last
  uint64_t method;
  uint32_t slot, generation, offset, length;
  unsigned char payload[INLINE];  // the first 32 bytes are in the line of the fields
} descriptor;

typedef struct {
  line head, tail, data_sleeper, space_sleeper;
  _Alignas(128) _Atomic uint64_t free_slots;
  _Alignas(128) descriptor descriptors[MAX_SIZE];  // as many as size says are used
  _Alignas(128) unsigned char pockets[POCKETS][POCKET_BYTES];
  _Alignas(128) unsigned char slots[SLOTS][SLOT_BYTES];
} ring;

typedef struct { ring to, fro; _Atomic int ready; } shared;

enum mode { MODE_SPIN, MODE_ADAPTIVE, MODE_FUTEX, MODE_WORD };
static enum mode mode;
static uint32_t batch;
static uint32_t size = 8192, size_bits = 13;  // where messages are not answered MAX_SIZE

typedef struct {
  ring *r;
  uint32_t head, published, tail;
  uint64_t kept;  // slots taken from free_slots and not used yet
  uint32_t generations[SLOTS];
} sender;
typedef struct { ring *r; uint32_t tail, told; uint32_t accepted[SLOTS]; } receiver;

static uint64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000ull + t.tv_nsec;
}

// Between two looks, so that they do not keep fetching the line that is just being written.
static void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

static uint64_t mark(uint32_t counter) { return 0x8000 | (counter >> size_bits & 0x7fff); }

static void wake_if_asleep(line *sleeper) {
  if (atomic_load_explicit(&sleeper->word, memory_order_relaxed) == SPINS) return;
  atomic_thread_fence(memory_order_seq_cst);
  if (atomic_load_explicit(&sleeper->word, memory_order_relaxed) == ASLEEP) {
    atomic_store_explicit(&sleeper->word, AWAKE, memory_order_release);
    syscall(SYS_futex, &sleeper->word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
  }
}

#define AWAIT(condition, sleeper)                                                        \
  do {                                                                                   \
    if (mode != MODE_FUTEX) {                                                            \
      uint64_t began = 0;                                                                \
      for (uint32_t i = 1; !(condition); i++) {                                          \
        relax();                                                                         \
        if (mode == MODE_ADAPTIVE && i % 20 == 0) {                                      \
          uint64_t t = now();                                                            \
          if (began == 0) began = t;                                                     \
          if (t - began > SPIN_NANOS) break;                                             \
        }                                                                                \
      }                                                                                  \
    }                                                                                    \
    while (!(condition)) {                                                               \
      atomic_store_explicit(&(sleeper)->word, ASLEEP, memory_order_relaxed);             \
      atomic_thread_fence(memory_order_seq_cst);                                         \
      if (condition) break;                                                              \
      syscall(SYS_futex, &(sleeper)->word, FUTEX_WAIT, ASLEEP, NULL, NULL, 0);           \
    }                                                                                    \
  } while (0)

static int unread_below(sender *s, uint32_t limit) {
  if (s->head - s->tail < limit) return 1;
  s->tail = atomic_load_explicit(&s->r->tail.word, memory_order_acquire);
  return s->head - s->tail < limit;
}

static int has_room(sender *s) { return unread_below(s, size - 1); }

static void publish(sender *s) {
  atomic_store_explicit(&s->r->head.word, s->head, memory_order_release);
  s->published = s->head;
  wake_if_asleep(&s->r->data_sleeper);
}

static int allocate(sender *s) {
  if (s->kept == 0) {
    s->kept = atomic_exchange_explicit(&s->r->free_slots, 0, memory_order_acquire);
    if (s->kept == 0) return -1;
  }
  int slot = __builtin_ctzll(s->kept);
  s->kept &= s->kept - 1;
  s->generations[slot]++;
  return slot;
}

static void send_message(sender *s, const unsigned char *bytes, uint32_t length) {
  if (mode == MODE_WORD) {
    atomic_store_explicit(&s->r->head.word, ++s->head, memory_order_release);
    return;
  }
  if (!has_room(s)) {
    publish(s);
    AWAIT(has_room(s), &s->r->space_sleeper);
  }
  descriptor *d = &s->r->descriptors[s->head & (size - 1)];
  // The descriptor's first line comes last: the receiver is looking at it.
  uint32_t slot = UINT32_MAX, generation = 0;
  if (length <= INLINE) {
    uint32_t first = length < FIRST_LINE ? length : FIRST_LINE;
    memcpy(d->payload + first, bytes + first, length - first);
    memcpy(d->payload, bytes, first);
    memset(d->payload + first, 0, FIRST_LINE - first);
  } else if (length <= POCKET_BYTES && unread_below(s, POCKETS)) {
    memcpy(s->r->pockets[s->head & (POCKETS - 1)], bytes, length);
    memset(d->payload, 0, FIRST_LINE);
  } else {
    int free = allocate(s);
    if (free < 0) {
      publish(s);
      // The condition is looked at again after it held, and must not take a second slot.
      AWAIT(free >= 0 || (free = allocate(s)) >= 0, &s->r->space_sleeper);
    }
    slot = free;
    generation = s->generations[slot];
    memcpy(s->r->slots[slot], &generation, 4);
    memcpy(s->r->slots[slot] + 4, bytes, length);
    memset(d->payload, 0, FIRST_LINE);
  }
  d->method = 0;
  d->slot = slot;
  d->generation = generation;
  d->offset = 0;
  d->length = length;
  atomic_store_explicit(&d->first, 1 | mark(s->head) << 16, memory_order_release);
  s->head++;
  if (s->head - s->published >= batch) publish(s);
}

static int is_there(receiver *v) {
  uint64_t first = atomic_load_explicit(
      &v->r->descriptors[v->tail & (size - 1)].first, memory_order_acquire);
  return (first >> 16 & 0xffff) == mark(v->tail);
}

static void tell(receiver *v) {
  atomic_store_explicit(&v->r->tail.word, v->tail, memory_order_release);
  v->told = v->tail;
  wake_if_asleep(&v->r->space_sleeper);
}

static void die(const char *what) {
  fprintf(stderr, "ipc_ring: %s\n", what);
  _exit(1);
}

static void receive_message(receiver *v, unsigned char *bytes) {
  if (mode == MODE_WORD) {
    while (atomic_load_explicit(&v->r->head.word, memory_order_acquire) == v->tail) relax();
    uint64_t number = v->tail++;
    memcpy(bytes, &number, 8);
    return;
  }
  if (!is_there(v)) {
    if (v->told != v->tail) tell(v);
    AWAIT(is_there(v), &v->r->data_sleeper);
  }
  descriptor *d = &v->r->descriptors[v->tail & (size - 1)];
  uint32_t slot = d->slot, generation = d->generation, length = d->length, offset = d->offset;
  if (slot == UINT32_MAX) {
    if (generation != 0 || offset != 0 || length > POCKET_BYTES) die("bad inline descriptor");
    if (length > INLINE) {
      memcpy(bytes, v->r->pockets[v->tail & (POCKETS - 1)], length);
    } else {
      memcpy(bytes, d->payload, FIRST_LINE);
      if (length > FIRST_LINE) memcpy(bytes + FIRST_LINE, d->payload + FIRST_LINE, length - FIRST_LINE);
    }
  } else {
    if (slot >= SLOTS || length > SLOT_BYTES - 4 || offset + (uint64_t)length > SLOT_BYTES - 4)
      die("bad slot");
    uint32_t found;
    memcpy(&found, v->r->slots[slot], 4);
    if (found != generation || v->accepted[slot] == generation) die("bad generation");
    memcpy(bytes, v->r->slots[slot] + 4 + offset, length);
    v->accepted[slot] = generation;
    uint64_t bit = 1ull << slot;
    if (atomic_fetch_or_explicit(&v->r->free_slots, bit, memory_order_release) & bit)
      die("free slot");
  }
  v->tail++;
  if (v->tail - v->told >= batch) tell(v);
}

static void check(const unsigned char *bytes, uint64_t expected) {
  uint64_t number;
  memcpy(&number, bytes, 8);
  if (number != expected) die("messages out of order");
}

// Also while this process waits for the other one, which may have ended first.
static void *end_with_input(void *unused) {
  struct pollfd input = {.fd = 0};  // no event but that nobody can write any more
  while (poll(&input, 1, -1) <= 0) {
  }
  _exit(0);
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static shared *map(const char *path, int create) {
  int fd = open(path, O_RDWR | (create ? O_CREAT : 0), 0600);
  if (fd < 0 || (create && ftruncate(fd, sizeof(shared)) != 0)) die("cannot open the file");
  shared *s = mmap(NULL, sizeof(shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (s == MAP_FAILED) die("cannot map the file");
  if (create) {
    ring *rings[] = {&s->to, &s->fro};
    for (int i = 0; i < 2; i++) {
      rings[i]->free_slots = (1u << SLOTS) - 1;
      if (mode == MODE_SPIN) rings[i]->data_sleeper.word = rings[i]->space_sleeper.word = SPINS;
    }
    s->ready = 1;
  }
  return s;
}

static unsigned char bytes[SLOT_BYTES];

static double ping(sender *out, receiver *in, uint32_t length, double seconds) {
  enum { MOST = 200000 };
  static double bursts[MOST];
  static uint64_t number;
  uint64_t until = now() + (uint64_t)(seconds * 1e9);
  int count = 0;
  uint32_t burst = mode == MODE_FUTEX ? 20 : 200;
  while (count < MOST && (now() < until || count == 0)) {
    uint64_t began = now();
    for (uint32_t i = 0; i < burst; i++) {
      memcpy(bytes, &number, 8);
      send_message(out, bytes, length);
      receive_message(in, bytes);
      check(bytes, number++);
    }
    bursts[count++] = (double)(now() - began) / burst;
  }
  qsort(bursts, count, sizeof(double), ascending);
  return bursts[count / 2];
}

static double source(sender *out, uint32_t length, double seconds) {
  static uint64_t number;
  uint64_t began = now(), t, first = number, nanos = (uint64_t)(seconds * 1e9);
  do {
    for (int i = 0; i < 1024; i++) {
      memcpy(bytes, &number, 8);
      number++;
      send_message(out, bytes, length);
    }
    t = now();
  } while (t - began < nanos);
  publish(out);
  return (number - first) * 1e9 / (t - began);
}

int main(int argc, char **argv) {
  if (argc != 6) die("ROLE MODE PATH BYTES BATCH");
  switch (argv[2][0]) {
    case 's': mode = MODE_SPIN; break;
    case 'a': mode = MODE_ADAPTIVE; break;
    case 'f': mode = MODE_FUTEX; break;
    default: mode = MODE_WORD;
  }
  uint32_t length = atoi(argv[4]);
  batch = atoi(argv[5]);
  int passive = strcmp(argv[1], "echo") == 0 || strcmp(argv[1], "sink") == 0;
  if (argv[1][0] == 's') size = MAX_SIZE, size_bits = 16;  // sink and source
  shared *s = map(argv[3], passive);
  static receiver in;
  static sender out;
  out.r = passive ? &s->fro : &s->to;
  in.r = passive ? &s->to : &s->fro;
  pthread_t ending;
  pthread_create(&ending, NULL, end_with_input, NULL);
  puts("READY");
  fflush(stdout);
  if (passive) {
    for (uint64_t expected = 0;; expected++) {
      receive_message(&in, bytes);
      check(bytes, expected);
      if (argv[1][0] == 'e') send_message(&out, bytes, length);
    }
  }
  double seconds;
  while (scanf("%lf", &seconds) == 1) {
    printf("%f\n", argv[1][0] == 'p' ? ping(&out, &in, length, seconds)
                                     : source(&out, length, seconds));
    fflush(stdout);
  }
  return 0;
}
