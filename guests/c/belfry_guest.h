/*
 * A guest of a Belfry host in one header: C11, Linux, 64 bits, little-endian. README.md says how to
 * use it.
 *
 *     belfry_guest guest;
 *     belfry_message message;
 *     if (belfry_attach(&guest, argc, argv) != BELFRY_OK) ...
 *     while (belfry_receive(&guest, &message, BELFRY_FOREVER) == BELFRY_OK) ...
 *     belfry_close(&guest);
 *
 * Include it first, or compile with -D_GNU_SOURCE; link with -pthread.
 *
 * One thread may send while another receives. Whatever another process can write is copied once and
 * validated before use: the first value that a correct host cannot have written ends the guest with
 * BELFRY_VIOLATION. Names that begin with belfry__ are private to this file.
 */
#ifndef BELFRY_GUEST_H
#define BELFRY_GUEST_H

#ifdef __cplusplus
#error "this is C, and not C++: keep what uses it in a file of its own that a C compiler compiles"
#else

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if !defined(SYS_futex) || !defined(F_OFD_GETLK)
#error "include belfry_guest.h before other headers, or compile with -D_GNU_SOURCE"
#endif
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || UINTPTR_MAX != UINT64_MAX
#error "shared memory needs a little-endian 64-bit machine"
#endif

/* ---------------------------------------------------------------------------------------------
 * The public interface.
 */

/* The result of a call. belfry_text describes each one, belfry_error has the details. */
typedef enum belfry_result {
    BELFRY_OK = 0,

    /* Not now. */
    BELFRY_EMPTY,
    BELFRY_RING_FULL,
    BELFRY_NO_SLOT,
    BELFRY_TIMEOUT,

    /* Not this message. */
    BELFRY_TOO_LARGE,
    BELFRY_BAD_KIND,

    /* Nothing more can be sent; see belfry_end. */
    BELFRY_DETACHED,
    BELFRY_HOST_GOODBYE,
    BELFRY_HOST_GONE,
    BELFRY_EVICTED,
    BELFRY_VIOLATION,

    /* Could not attach. */
    BELFRY_BAD_TICKET,
    BELFRY_BAD_DOORBELL,
    BELFRY_NOT_A_SEGMENT,
    BELFRY_BAD_VERSION,
    BELFRY_BAD_HEADER,
    BELFRY_NOT_RESERVED,
    BELFRY_NO_FREE_ENTRY,

    /* A system call failed, or there is no doorbell to wait at. */
    BELFRY_SYSTEM,
    BELFRY_NO_DOORBELL
} belfry_result;

enum belfry_kind {
    BELFRY_REQUEST = 1,
    BELFRY_RESPONSE,
    BELFRY_CANCEL,
    BELFRY_DATA,
    BELFRY_CLOSE,
    BELFRY_RESET,
    BELFRY_GOODBYE
};

/* A message. The bytes of a received message are valid until the next one is received. */
typedef struct belfry_message {
    uint8_t kind;
    uint32_t id;
    uint64_t method_id;
    const void *bytes;
    uint32_t length;
} belfry_message;

/* A guest. It must not move between attach and close; its fields are private to this file. */
typedef struct belfry_guest belfry_guest;

/* Deadlines are times of CLOCK_MONOTONIC in nanoseconds, or one of these. */
#define BELFRY_NOW INT64_C(0)           /* do not wait */
#define BELFRY_FOREVER INT64_MAX

/* The deadline after so many milliseconds from now; negative numbers count as 0. */
static inline int64_t belfry_after_ms(int64_t ms);

/*
 * Attaches with the ticket that a host adds to the arguments of the guests it spawns
 * (--hub-path=PATH --peer-id=N --doorbell-fd=N; others are ignored). With --hub-path= alone it
 * walks in. A guest with a ticket dies with its host. After a failure there is nothing to close;
 * belfry_error gives the reason.
 */
static inline belfry_result belfry_attach(belfry_guest *guest, int argc, char *const argv[]);

/* Walks in: attaches to the first free entry of the segment at a path, without a doorbell. */
static inline belfry_result belfry_walk_in(belfry_guest *guest, const char *path);

/*
 * Receives a message, waiting for one until the deadline. Returns BELFRY_OK; BELFRY_EMPTY if it may
 * not wait; BELFRY_TIMEOUT; or, after all messages have been received, why no more will come.
 */
static inline belfry_result belfry_receive(
    belfry_guest *guest, belfry_message *message, int64_t deadline);

/*
 * Sends a message, waiting for room until the deadline. Returns BELFRY_OK; BELFRY_RING_FULL or
 * BELFRY_NO_SLOT if it may not wait; BELFRY_TIMEOUT; BELFRY_TOO_LARGE or BELFRY_BAD_KIND; or why
 * nothing more can be sent. The bytes may be those of the message received last.
 */
static inline belfry_result belfry_send(
    belfry_guest *guest, const belfry_message *message, int64_t deadline);

/* The same in two steps. A batch costs less this way: stage each message, then publish once. */
static inline belfry_result belfry_stage(belfry_guest *guest, const belfry_message *message);
static inline void belfry_publish(belfry_guest *guest);

/* The longest payload that can be sent, and this guest's peer id. */
static inline uint32_t belfry_max_payload(const belfry_guest *guest);
static inline int belfry_peer_id(const belfry_guest *guest);

/* BELFRY_OK as long as messages can be sent; otherwise the reason why not. */
static inline belfry_result belfry_end(belfry_guest *guest);

/*
 * For programs that sleep in poll or epoll. belfry_listen asks the host to ring for its next
 * message. It returns BELFRY_OK if there is one already, else BELFRY_EMPTY: then wait until the
 * descriptor is readable, call belfry_wait_bell, receive all messages, and listen again.
 */
static inline int belfry_bell_fd(const belfry_guest *guest);
static inline belfry_result belfry_listen(belfry_guest *guest);

/* Waits for a ring and consumes it: BELFRY_OK, BELFRY_TIMEOUT or BELFRY_HOST_GONE. */
static inline belfry_result belfry_wait_bell(belfry_guest *guest, int64_t deadline);

/* Rings the host's bell. Sending does so by itself where needed. Never blocks. */
static inline belfry_result belfry_ring(belfry_guest *guest);

/*
 * Leaves: waits until the host has read what was sent, at most until the deadline, and says
 * goodbye. BELFRY_OK if all was read. Messages from the host can still be received, except by a
 * guest that walked in, whose entry may be reused at once. For the sending thread.
 */
static inline belfry_result belfry_detach(belfry_guest *guest, int64_t deadline);

/* Leaves within a second and releases everything. No other thread may still use the guest. */
static inline void belfry_close(belfry_guest *guest);

/* A short description of a result. */
static inline const char *belfry_text(belfry_result result);

/* Details of why attaching failed, or of how the host violated the protocol. */
static inline const char *belfry_error(const belfry_guest *guest);

/* ---------------------------------------------------------------------------------------------
 * The layout. The two placements differ only in these numbers, the flags of sleepers, the lap
 * marks of descriptors, the pockets, and the mutex of each guest.
 *
 *   header | peer table | host pool | pool 1 | ... | pool G | pad | area 1 | ... | area G
 *   area: guest->host ring | host->guest ring | channel table
 *         padded: | guest->host pockets | host->guest pockets
 *   pool: bitmap words, 1 = free | pad | slots, each a generation (4 bytes) and a payload
 *         padded: a second bitmap follows, for slots that the owner keeps; we keep none
 */
enum { BELFRY__TO_HOST, BELFRY__TO_GUEST };                               /* rings */
enum { BELFRY__EMPTY, BELFRY__ATTACHED, BELFRY__LEFT, BELFRY__RESERVED }; /* states of entries */
enum { BELFRY__AWAKE, BELFRY__ASLEEP, BELFRY__SPINS, BELFRY__AT_BELL };   /* flags of sleepers */

#define BELFRY__MAGIC UINT64_C(0x0142554841504152) /* RAPAHUB and 1 */
#define BELFRY__HEADER_BYTES 128u
#define BELFRY__GOODBYE_AT 68u
#define BELFRY__V1 1u
#define BELFRY__PADDED 258u
#define BELFRY__BLOCK 128u /* processors prefetch lines in pairs; unit of the padded entry */
#define BELFRY__LINE 64u
#define BELFRY__FIELD_BYTES 32u    /* of a descriptor, before its inline payload */
#define BELFRY__INLINE UINT32_MAX  /* the slot number of a message without a slot */
#define BELFRY__GENERATION_BYTES 4u
#define BELFRY__MAX_POCKETS 256u

typedef struct belfry__layout {
    bool padded;
    uint32_t max_payload, initial_credit, max_guests, ring_size, slot_size, slots, max_channels;
    uint64_t heartbeat_ns;

    uint32_t descriptor_bytes, inline_bytes, pocket_bytes, pockets, bitmap_words;
    uint64_t entry_bytes, slot_region, slot_stride, pool_header_bytes, pool_bytes;
    uint64_t areas, channels_in_area, channel_table_bytes, pockets_in_area, area_bytes, total;
} belfry__layout;

/* One direction, as both of its ends see it. In format 1 the counters are the futex words. */
typedef struct belfry__ring {
    _Atomic uint32_t *head, *tail;
    _Atomic uint32_t *data_word, *space_word;
    uint8_t *descriptors;
    uint8_t *pockets;
} belfry__ring;

struct belfry_guest {
    belfry__layout layout;
    uint8_t *base; /* the mapping; NULL before attach and after close */
    int file;
    int peer;
    _Atomic uint64_t attached; /* state and epoch of our entry while it is ours */
    _Atomic uint64_t *state;

    /* For the sending thread. The counters are written to shared memory, never read back. */
    belfry__ring out;
    uint32_t head, published, tail_seen;
    int64_t send_spin_ns;

    /* For the receiving thread. */
    belfry__ring in;
    uint32_t tail, seen;
    int64_t receive_spin_ns;
    uint8_t *buffer;
    uint64_t *accepted; /* the generation last accepted for each slot of the host */

    /* The bell: one thread at a time listens and wakes the other. */
    int bell;
    bool datagrams;
    atomic_bool listening;
    atomic_int waiting;
    atomic_uint heard;

    atomic_bool silent; /* the host has written without waking us: poll more often */
    atomic_bool detached, host_gone, violated;
    atomic_bool receiving; /* a thread uses the entry; maintained by guests without a bell */
    char error[200];

    /* The thread that shows that we are alive, and watches whether the host is. */
    pthread_t lifeline;
    bool has_lifeline;
    int stop;
    sem_t started;
    belfry_result start_result;
    _Atomic uint32_t *mutex; /* NULL in format 1 */
    bool watches_lock;
    struct robust_list_head robust;
    struct robust_list robust_entry;
};

static inline const char *belfry_text(belfry_result result) {
    switch (result) {
    case BELFRY_OK: return "done";
    case BELFRY_EMPTY: return "there is no message";
    case BELFRY_RING_FULL: return "the ring is full until the host reads";
    case BELFRY_NO_SLOT: return "all slots are in use until the host reads";
    case BELFRY_TIMEOUT: return "the deadline has passed";
    case BELFRY_TOO_LARGE: return "the message is longer than the host allows";
    case BELFRY_BAD_KIND: return "a message has a kind from 1 to 7";
    case BELFRY_DETACHED: return "this guest has detached";
    case BELFRY_HOST_GOODBYE: return "the host has said goodbye";
    case BELFRY_HOST_GONE: return "the host is gone";
    case BELFRY_EVICTED: return "the host has given this guest up";
    case BELFRY_VIOLATION: return "the host has written what a correct one cannot";
    case BELFRY_BAD_TICKET: return "the arguments hold no ticket; a host passes one to its guests";
    case BELFRY_BAD_DOORBELL: return "the doorbell is not an open socket; was it passed on?";
    case BELFRY_NOT_A_SEGMENT: return "the file is not a segment";
    case BELFRY_BAD_VERSION: return "the segment has an unknown version";
    case BELFRY_BAD_HEADER: return "the segment's header does not fit itself or its file";
    case BELFRY_NOT_RESERVED: return "the entry is not reserved for this guest";
    case BELFRY_NO_FREE_ENTRY: return "all entries for guests are taken";
    case BELFRY_SYSTEM: return "the system refused a call";
    case BELFRY_NO_DOORBELL: return "a guest that has walked in has no doorbell";
    }
    return "unknown result";
}

static inline const char *belfry_error(const belfry_guest *g) {
    return g->error;
}

__attribute__((format(printf, 3, 4)))
static inline belfry_result belfry__fail(
    belfry_guest *g, belfry_result result, const char *format, ...) {
    va_list details;
    va_start(details, format);
    vsnprintf(g->error, sizeof g->error, format, details);
    va_end(details);
    return result;
}

static inline uint64_t belfry__align(uint64_t bytes, uint64_t unit) {
    return (bytes + unit - 1) & ~(unit - 1);
}

static inline uint32_t belfry__u32(const uint8_t *header, size_t offset) {
    uint32_t value;
    memcpy(&value, header + offset, sizeof value);
    return value;
}

static inline uint64_t belfry__u64(const uint8_t *header, size_t offset) {
    uint64_t value;
    memcpy(&value, header + offset, sizeof value);
    return value;
}

/* Computes the layout; false if it does not fit the length of the file. */
static inline bool belfry__compute(belfry__layout *l, uint64_t file_bytes) {
    uint64_t unit = l->padded ? BELFRY__BLOCK : BELFRY__LINE;
    uint64_t channel_bytes = l->padded ? BELFRY__BLOCK : 16;
    l->descriptor_bytes = l->padded ? 128 : 64;
    uint32_t inline_room = l->descriptor_bytes - BELFRY__FIELD_BYTES;
    uint32_t allowed = l->max_payload > 32 ? l->max_payload : 32;
    l->inline_bytes = allowed < inline_room ? allowed : inline_room;
    l->entry_bytes = l->padded ? 12 * BELFRY__BLOCK : 64;
    l->slot_region = belfry__align(BELFRY__HEADER_BYTES + l->entry_bytes * l->max_guests, unit);
    l->bitmap_words = (l->slots + 63) / 64;
    l->pool_header_bytes = belfry__align(8ull * l->bitmap_words, unit) * (l->padded ? 2 : 1);
    /* An odd number of blocks, so that slots do not all compete for the same cache sets. */
    l->slot_stride = l->padded ? belfry__align(l->slot_size, unit) | unit : l->slot_size;
    l->pool_bytes = l->pool_header_bytes + l->slots * l->slot_stride;
    if (l->pool_bytes > file_bytes / (l->max_guests + 1)) {
        return false; /* so nothing below can overflow */
    }
    l->areas = belfry__align(l->slot_region + (l->max_guests + 1) * l->pool_bytes, unit);
    l->channels_in_area = belfry__align(2ull * l->ring_size * l->descriptor_bytes, unit);
    l->channel_table_bytes = l->max_channels * channel_bytes;
    l->pockets_in_area = l->channels_in_area + belfry__align(l->channel_table_bytes, unit);
    uint32_t in_pocket = l->padded ? l->slot_size / 64 : 0;
    if (in_pocket > inline_room) { /* otherwise a descriptor holds as much */
        l->pocket_bytes = (uint32_t)(belfry__align(in_pocket, unit) | unit);
        l->pockets = l->ring_size < BELFRY__MAX_POCKETS ? l->ring_size : BELFRY__MAX_POCKETS;
    }
    l->area_bytes = l->pockets_in_area + 2ull * l->pockets * l->pocket_bytes;
    l->total = l->areas + l->max_guests * l->area_bytes;
    return l->total <= file_bytes;
}

/* A padded entry has a block for each word, 12 in all; in format 1 the words are adjacent. */
static inline uint8_t *belfry__word(belfry_guest *g, uint32_t v1_offset, uint32_t padded_block) {
    uint64_t entry = BELFRY__HEADER_BYTES + g->layout.entry_bytes * (uint64_t)(g->peer - 1);
    return g->base + entry + (g->layout.padded ? padded_block * BELFRY__BLOCK : v1_offset);
}

static inline _Atomic uint64_t *belfry__heartbeat(belfry_guest *g) {
    return (_Atomic uint64_t *)belfry__word(g, 24, 5);
}

/* The pool of an owner: 0 for the host, else a peer id. */
static inline _Atomic uint64_t *belfry__bitmap(const belfry_guest *g, int owner) {
    uint64_t offset = g->layout.slot_region + (uint64_t)owner * g->layout.pool_bytes;
    return (_Atomic uint64_t *)(g->base + offset);
}

/* A slot: its generation, followed by its payload. */
static inline uint8_t *belfry__slot(const belfry_guest *g, int owner, uint32_t slot) {
    return (uint8_t *)belfry__bitmap(g, owner) + g->layout.pool_header_bytes
        + slot * g->layout.slot_stride;
}

static inline uint8_t *belfry__area(const belfry_guest *g) {
    return g->base + g->layout.areas + g->layout.area_bytes * (uint64_t)(g->peer - 1);
}

static inline belfry__ring belfry__ring_of(belfry_guest *g, int direction) {
    bool to_guest = direction == BELFRY__TO_GUEST;
    uint64_t ring_bytes = (uint64_t)g->layout.ring_size * g->layout.descriptor_bytes;
    uint64_t pocket_bytes = (uint64_t)g->layout.pockets * g->layout.pocket_bytes;
    belfry__ring ring = {
        .head = (_Atomic uint32_t *)belfry__word(g, to_guest ? 16 : 8, to_guest ? 3 : 1),
        .tail = (_Atomic uint32_t *)belfry__word(g, to_guest ? 20 : 12, to_guest ? 4 : 2),
        .descriptors = belfry__area(g) + (to_guest ? ring_bytes : 0),
        .pockets = belfry__area(g) + g->layout.pockets_in_area + (to_guest ? pocket_bytes : 0),
    };
    ring.data_word = ring.head;
    ring.space_word = ring.tail;
    if (g->layout.padded) {
        ring.data_word = (_Atomic uint32_t *)belfry__word(g, 0, to_guest ? 9 : 7);
        ring.space_word = (_Atomic uint32_t *)belfry__word(g, 0, to_guest ? 10 : 8);
    }
    return ring;
}

static inline uint32_t belfry__capacity(const belfry_guest *g) {
    return g->layout.ring_size - 1;
}

static inline _Atomic uint64_t *belfry__descriptor(
    const belfry_guest *g, const belfry__ring *ring, uint32_t counter) {
    uint64_t index = counter & (g->layout.ring_size - 1);
    return (_Atomic uint64_t *)(ring->descriptors + index * g->layout.descriptor_bytes);
}

/* The pocket of a message, if there are pockets; much earlier messages have shared it. */
static inline uint8_t *belfry__pocket(
    const belfry_guest *g, const belfry__ring *ring, uint32_t counter) {
    return ring->pockets + (uint64_t)(counter & (g->layout.pockets - 1)) * g->layout.pocket_bytes;
}

/* Tells the lap of a counter from the previous one. Never zero, the value of fresh memory. */
static inline uint32_t belfry__lap_mark(const belfry_guest *g, uint32_t counter) {
    return g->layout.padded ? 0x8000u | ((counter / g->layout.ring_size) & 0x7fff) : 0;
}

static inline uint32_t belfry_max_payload(const belfry_guest *g) {
    return g->layout.max_payload > g->layout.inline_bytes ? g->layout.max_payload
                                                           : g->layout.inline_bytes;
}

static inline int belfry_peer_id(const belfry_guest *g) {
    return g->peer;
}

/* ---------------------------------------------------------------------------------------------
 * Time, futexes and the bell.
 */
#define BELFRY__SLICE_NS INT64_C(50000000)       /* the longest sleep without a wake-up */
#define BELFRY__SILENT_SLICE_NS INT64_C(1000000) /* the same for a host that does not wake us */
#define BELFRY__LOOK_NS INT64_C(500000000)       /* how often to poll for changes without notice */
#define BELFRY__LONG_POLL_NS INT64_C(200000000)  /* longer waits use poll; see belfry__poll */
#define BELFRY__LEAST_SPIN_NS INT64_C(2000)
#define BELFRY__MOST_SPIN_NS INT64_C(200000)     /* a few times the cost of sleeping and waking */
#define BELFRY__FIRST_LOOKS 100 /* longer than a host that is awake takes to answer */
#define BELFRY__LOOKS 20        /* between two looks at the clock */

static inline int64_t belfry__now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static inline int64_t belfry__earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static inline int64_t belfry_after_ms(int64_t ms) {
    int64_t now = belfry__now();
    if (ms <= 0) {
        return now;
    }
    return ms < (BELFRY_FOREVER - now) / 1000000 ? now + ms * 1000000 : BELFRY_FOREVER;
}

static inline struct timespec belfry__timespec(int64_t ns) {
    return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static inline void belfry__pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("isb");
#endif
}

static inline void belfry__futex_wake(_Atomic uint32_t *word) {
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Sleeps while the word has the value; false if the deadline has passed. */
static inline bool belfry__futex_wait(_Atomic uint32_t *word, uint32_t value, int64_t until) {
    struct timespec deadline = belfry__timespec(until);
    long result = syscall(
        SYS_futex, word, FUTEX_WAIT_BITSET, value, &deadline, NULL, FUTEX_BITSET_MATCH_ANY);
    if (result == 0 || errno == EAGAIN || errno == EINTR) {
        return true;
    }
    if (errno != ETIMEDOUT) { /* no futexes here: poll instead */
        struct timespec pause = belfry__timespec(BELFRY__SILENT_SLICE_NS);
        nanosleep(&pause, NULL);
    }
    return false;
}

static inline int belfry_bell_fd(const belfry_guest *g) {
    return g->bell;
}

static inline belfry_result belfry_ring(belfry_guest *g) {
    if (g->bell < 0) {
        return BELFRY_NO_DOORBELL;
    }
    ssize_t sent;
    do {
        sent = send(g->bell, "\1", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0 || errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
        return BELFRY_OK; /* the socket is full, so a ring is already pending */
    }
    bool dead = errno == EPIPE || errno == ECONNRESET || errno == ECONNREFUSED || errno == ENOTCONN;
    if (dead && g->datagrams) {
        atomic_store(&g->host_gone, true); /* no hang-up reports it */
    }
    return dead ? BELFRY_HOST_GONE : BELFRY_SYSTEM;
}

/* Drains the bell. A ring counts before the host's hang-up. */
static inline belfry_result belfry__drain(belfry_guest *g) {
    bool rung = false;
    for (int reads = 0; reads < 16; reads++) { /* endless rings must not hold us up */
        char rings[64];
        ssize_t got = recv(g->bell, rings, sizeof rings, MSG_DONTWAIT);
        if (got > 0 || (got == 0 && g->datagrams)) {
            rung = true;
        } else if (got == 0 || errno == ECONNRESET) {
            return rung ? BELFRY_OK : BELFRY_HOST_GONE;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            break;
        } else if (errno != EINTR) {
            return BELFRY_SYSTEM;
        }
    }
    return rung ? BELFRY_OK : BELFRY_EMPTY;
}

/*
 * Polls until a deadline. In a process that is stopped and continued, ppoll sleeps again for all
 * the time that was left when it was stopped. poll keeps to the clock, but counts in milliseconds.
 */
static inline int belfry__poll(struct pollfd *sources, nfds_t count, int64_t until) {
    if (until == BELFRY_FOREVER) {
        return poll(sources, count, -1);
    }
    int64_t rest = until - belfry__now();
    while (rest >= BELFRY__LONG_POLL_NS) {
        int64_t millis = rest / 1000000;
        int happened = poll(sources, count, millis < INT_MAX ? (int)millis : INT_MAX);
        if (happened != 0) {
            return happened;
        }
        rest = until - belfry__now();
    }
    struct timespec timeout = belfry__timespec(rest > 0 ? rest : 0);
    return ppoll(sources, count, &timeout, NULL);
}

static inline belfry_result belfry__hear(belfry_guest *g, int64_t until) {
    while (true) {
        struct pollfd bell = {.fd = g->bell, .events = POLLIN};
        int count = belfry__poll(&bell, 1, until);
        if (count == 0) {
            return BELFRY_TIMEOUT;
        }
        if (count < 0) {
            if (errno == EINTR) {
                continue;
            }
            return BELFRY_SYSTEM;
        }
        belfry_result heard = (bell.revents & POLLNVAL) ? BELFRY_SYSTEM : belfry__drain(g);
        if (heard == BELFRY_OK) {
            atomic_fetch_add(&g->heard, 1);
        }
        if (heard == BELFRY_EMPTY && (bell.revents & (POLLHUP | POLLERR))) {
            heard = BELFRY_HOST_GONE;
        }
        if (heard != BELFRY_EMPTY) { /* otherwise another thread has consumed the ring */
            return heard;
        }
    }
}

static inline belfry_result belfry_wait_bell(belfry_guest *g, int64_t deadline) {
    return g->bell < 0 ? BELFRY_NO_DOORBELL : belfry__hear(g, deadline);
}

/* ---------------------------------------------------------------------------------------------
 * The end, and rings. Each side puts a full fence between a store and a load: a sleeper sets its
 * flag (format 1: none), fences, and tests its condition again; the waker stores its counter,
 * fences, and tests whether the other side sleeps. At least one of them sees the other's store.
 */
static inline bool belfry__host_left(const belfry_guest *g) {
    return atomic_load_explicit(
        (_Atomic uint32_t *)(g->base + BELFRY__GOODBYE_AT), memory_order_acquire) != 0;
}

/* Whether our entry is no longer attached: we have left, or the host has given us up. */
static inline bool belfry__evicted(belfry_guest *g) {
    return atomic_load_explicit(g->state, memory_order_acquire) != g->attached;
}

/* The state and epoch of our entry after we have left. */
static inline uint64_t belfry__left(belfry_guest *g) {
    return (g->attached & ~UINT64_C(0xffffffff)) | BELFRY__LEFT;
}

/*
 * Whether our entry may belong to another guest, so that we must not touch it any more. Until the
 * host recycles it, a guest that has left can read on, and one that was given up can read why.
 */
static inline bool belfry__entry_lost(belfry_guest *g) {
    uint64_t now = atomic_load_explicit(g->state, memory_order_acquire);
    return now != g->attached && now != belfry__left(g);
}

static inline belfry_result belfry_end(belfry_guest *g) {
    if (atomic_load(&g->violated)) {
        return BELFRY_VIOLATION;
    }
    if (atomic_load(&g->detached)) {
        return BELFRY_DETACHED;
    }
    if (belfry__host_left(g)) {
        return BELFRY_HOST_GOODBYE;
    }
    if (atomic_load(&g->host_gone)) {
        return BELFRY_HOST_GONE;
    }
    return belfry__evicted(g) ? BELFRY_EVICTED : BELFRY_OK;
}

/* Keeps the first violation and its text: values read after it mean nothing. */
#define belfry__violation(guest, ...) \
    (atomic_exchange(&(guest)->violated, true) \
            ? BELFRY_VIOLATION \
            : belfry__fail((guest), BELFRY_VIOLATION, __VA_ARGS__))

static inline void belfry__wake_if_asleep(belfry_guest *g, _Atomic uint32_t *flag) {
    if (atomic_load_explicit(flag, memory_order_relaxed) == BELFRY__SPINS) {
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t state = atomic_load_explicit(flag, memory_order_relaxed);
    while (state == BELFRY__ASLEEP || state == BELFRY__AT_BELL) {
        /* Compare and set: the owner may have gone to sleep in the other way meanwhile. */
        if (!atomic_compare_exchange_weak_explicit(
                flag, &state, BELFRY__AWAKE, memory_order_acq_rel, memory_order_relaxed)) {
            continue;
        }
        if (state == BELFRY__ASLEEP) {
            belfry__futex_wake(flag);
        } else {
            belfry_ring(g); /* whatever the result: the message stays published */
        }
        return;
    }
}

static inline void belfry_publish(belfry_guest *g) {
    uint32_t before = g->published;
    if (g->head == before) {
        return;
    }
    atomic_store_explicit(g->out.head, g->head, memory_order_release);
    g->published = g->head;
    if (g->layout.padded) {
        belfry__wake_if_asleep(g, g->out.data_word);
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(g->out.tail, memory_order_acquire) == before) {
        belfry__futex_wake(g->out.data_word);
    }
    belfry_ring(g); /* always: a host of format 1 may sleep at its bell without a flag */
}

static inline void belfry__consume(belfry_guest *g, bool slot_freed) {
    uint32_t before = g->tail++;
    atomic_store_explicit(g->in.tail, g->tail, memory_order_release);
    if (g->layout.padded) {
        belfry__wake_if_asleep(g, g->in.space_word);
        return;
    }
    atomic_thread_fence(memory_order_seq_cst);
    uint32_t head = atomic_load_explicit(g->in.head, memory_order_acquire);
    if (slot_freed || head - before >= belfry__capacity(g)) {
        belfry__futex_wake(g->in.space_word);
        belfry_ring(g);
    }
}

/* The number of messages the host has not read; more than the ring holds is a violation. */
static inline belfry_result belfry__unread(belfry_guest *g, uint32_t *unread) {
    *unread = g->head - atomic_load_explicit(g->out.tail, memory_order_acquire);
    if (*unread > belfry__capacity(g)) {
        return belfry__violation(g, "the host has read %u messages more than were sent", -*unread);
    }
    return BELFRY_OK;
}

/* Whether there is a message: BELFRY_OK, BELFRY_EMPTY or BELFRY_VIOLATION. */
static inline belfry_result belfry__look(belfry_guest *g) {
    if (atomic_load_explicit(&g->violated, memory_order_relaxed)) {
        return BELFRY_VIOLATION;
    }
    bool left = atomic_load_explicit(&g->detached, memory_order_relaxed);
    if (g->tail != g->seen && !left) {
        return BELFRY_OK;
    }
    if (belfry__entry_lost(g)) {
        return BELFRY_EMPTY;
    }
    if (g->tail != g->seen) {
        return BELFRY_OK;
    }
    if (g->layout.padded) {
        uint64_t first = atomic_load_explicit(
            belfry__descriptor(g, &g->in, g->tail), memory_order_acquire);
        g->seen += (uint16_t)(first >> 16) == belfry__lap_mark(g, g->tail);
    } else {
        uint32_t head = atomic_load_explicit(g->in.head, memory_order_acquire);
        if (head - g->tail > belfry__capacity(g)) {
            return belfry__violation(g, "head and tail are %u apart in a ring that holds %u",
                head - g->tail, belfry__capacity(g));
        }
        g->seen = head;
    }
    return g->tail != g->seen ? BELFRY_OK : BELFRY_EMPTY;
}

/* ---------------------------------------------------------------------------------------------
 * Waiting: spin for as long as that has paid lately, then sleep.
 */
typedef enum belfry__condition {
    BELFRY__DATA,  /* there is a message */
    BELFRY__SPACE, /* the ring has space for one */
    BELFRY__SLOT,  /* there is a slot for one */
    BELFRY__PLACE, /* there is a pocket or a slot for one */
    BELFRY__READ   /* the host has read all our messages */
} belfry__condition;

/* The bits of a bitmap word that stand for slots; the rest may hold anything. */
static inline uint64_t belfry__existing(const belfry_guest *g, uint32_t word) {
    uint32_t slots = g->layout.slots - 64 * word;
    return slots >= 64 ? UINT64_MAX : (UINT64_C(1) << slots) - 1;
}

static inline bool belfry__has_slot(const belfry_guest *g) {
    for (uint32_t i = 0; i < g->layout.bitmap_words; i++) {
        uint64_t word = atomic_load_explicit(
            belfry__bitmap(g, g->peer) + i, memory_order_acquire);
        if (word & belfry__existing(g, i)) {
            return true;
        }
    }
    return false;
}

/* Whether a condition holds: BELFRY_OK, BELFRY_EMPTY or BELFRY_VIOLATION. */
static inline belfry_result belfry__is(belfry_guest *g, belfry__condition condition) {
    if (condition == BELFRY__DATA) {
        return belfry__look(g);
    }
    uint32_t unread;
    belfry_result result = belfry__unread(g, &unread);
    if (result != BELFRY_OK) {
        return result;
    }
    bool holds = condition == BELFRY__SPACE ? unread < belfry__capacity(g)
        : condition == BELFRY__READ         ? unread == 0
        : condition == BELFRY__PLACE        ? unread < g->layout.pockets || belfry__has_slot(g)
                                            : belfry__has_slot(g);
    return holds ? BELFRY_OK : BELFRY_EMPTY;
}

/* Why to stop waiting, or BELFRY_EMPTY. The condition is tested last: it may hold since before. */
static inline belfry_result belfry__stop(
    belfry_guest *g, belfry__condition condition, int64_t deadline, int64_t now) {
    belfry_result end = belfry_end(g);
    if (end == BELFRY_OK && now < deadline) {
        return BELFRY_EMPTY;
    }
    belfry_result held = belfry__is(g, condition);
    return held != BELFRY_EMPTY ? held : end != BELFRY_OK ? end : BELFRY_TIMEOUT;
}

/* Sleeps until the word changes or the bell rings; false if the time has passed. */
static inline bool belfry__sleep(
    belfry_guest *g, _Atomic uint32_t *word, uint32_t value, unsigned heard, int64_t until) {
    if (g->layout.padded || g->bell < 0) {
        return belfry__futex_wait(word, value, until);
    }
    /* A host of format 1 may ring without waking a futex, so we sleep at the bell. If the other
       thread is already there, it passes on what it hears, and the bell itself when it leaves. */
    bool woken = true;
    atomic_fetch_add(&g->waiting, 1);
    if (atomic_exchange(&g->listening, true)) {
        woken = belfry__futex_wait(word, value, until);
    } else {
        belfry_result result = atomic_load(&g->heard) != heard ? BELFRY_OK : belfry__hear(g, until);
        atomic_store(&g->listening, false);
        if (atomic_load(&g->waiting) > 1) {
            belfry__futex_wake(g->in.data_word);
            belfry__futex_wake(g->out.space_word);
        }
        if (result == BELFRY_HOST_GONE || result == BELFRY_SYSTEM) {
            /* The lifeline is about to end us; until then there is nothing to sleep on. */
            struct timespec pause = belfry__timespec(BELFRY__SILENT_SLICE_NS);
            nanosleep(&pause, NULL);
        }
        woken = result != BELFRY_TIMEOUT;
    }
    atomic_fetch_sub(&g->waiting, 1);
    return woken;
}

static inline belfry_result belfry__sleep_until(
    belfry_guest *g, belfry__condition condition, int64_t deadline) {
    _Atomic uint32_t *word = condition == BELFRY__DATA ? g->in.data_word : g->out.space_word;
    /* In format 1 reading is announced only when a sender might wait for the space. */
    bool unannounced = condition == BELFRY__READ && !g->layout.padded;
    bool woken = true;
    while (true) {
        unsigned heard = atomic_load(&g->heard);
        uint32_t value = BELFRY__ASLEEP;
        if (g->layout.padded) {
            atomic_store_explicit(word, value, memory_order_relaxed);
            atomic_thread_fence(memory_order_seq_cst);
        } else {
            atomic_thread_fence(memory_order_seq_cst);
            value = atomic_load_explicit(word, memory_order_acquire);
        }
        belfry_result result = belfry__is(g, condition);
        int64_t now = belfry__now();
        if (result == BELFRY_EMPTY) {
            result = belfry__stop(g, condition, deadline, now);
        }
        if (result == BELFRY_EMPTY) {
            bool silent = unannounced || atomic_load_explicit(&g->silent, memory_order_relaxed);
            int64_t slice = silent ? BELFRY__SILENT_SLICE_NS : BELFRY__SLICE_NS;
            woken = belfry__sleep(g, word, value, heard, belfry__earlier(deadline, now + slice));
            if (woken && silent) { /* its last ring was only just late */
                atomic_store_explicit(&g->silent, false, memory_order_relaxed);
            }
            continue;
        }
        if (g->layout.padded) {
            atomic_store_explicit(word, BELFRY__AWAKE, memory_order_relaxed);
        } else if (!woken && !unannounced && result == BELFRY_OK) {
            atomic_store_explicit(&g->silent, true, memory_order_relaxed);
        }
        return result;
    }
}

/* Twice a wait that spinning could have covered, at most an eighth less; else half the spin. */
static inline int64_t belfry__adapted(int64_t spin, int64_t waited) {
    int64_t less = spin - spin / 8;
    int64_t next = waited > BELFRY__MOST_SPIN_NS ? spin / 2 : 2 * waited > less ? 2 * waited : less;
    return next < BELFRY__LEAST_SPIN_NS ? BELFRY__LEAST_SPIN_NS
        : next > BELFRY__MOST_SPIN_NS   ? BELFRY__MOST_SPIN_NS
                                        : next;
}

static inline belfry_result belfry__look_often(
    belfry_guest *g, belfry__condition condition, int looks) {
    belfry_result result = BELFRY_EMPTY;
    for (int i = 0; result == BELFRY_EMPTY && i < looks; i++) {
        belfry__pause();
        result = belfry__is(g, condition);
    }
    return result;
}

/* The number of processors is no guide: a thread pinned to one may be told that there are more. */
static inline belfry_result belfry__wait(
    belfry_guest *g, belfry__condition condition, int64_t deadline) {
    belfry_result result = belfry__look_often(g, condition, BELFRY__FIRST_LOOKS);
    if (result != BELFRY_EMPTY) {
        return result;
    }
    int64_t *spin = condition == BELFRY__DATA ? &g->receive_spin_ns : &g->send_spin_ns;
    int64_t began = belfry__now();
    int64_t now = began;
    while (result == BELFRY_EMPTY && now - began < *spin) {
        result = belfry__look_often(g, condition, BELFRY__LOOKS);
        if (result == BELFRY_EMPTY) {
            sched_yield(); /* perhaps to the host, if there are fewer processors than spinners */
            now = belfry__now();
            result = belfry__stop(g, condition, deadline, now);
        }
    }
    if (result == BELFRY_EMPTY) {
        result = belfry__sleep_until(g, condition, deadline);
    }
    *spin = belfry__adapted(*spin, belfry__now() - began);
    return result;
}

/* ---------------------------------------------------------------------------------------------
 * Receiving.
 */

/* Copies a payload from a slot of the host's pool and gives the slot back. */
static inline belfry_result belfry__take_slot(
    belfry_guest *g, uint32_t slot, uint32_t generation, uint32_t offset, uint32_t length) {
    if (length > g->layout.max_payload) {
        return belfry__violation(g, "a descriptor names a payload of %u bytes", length);
    }
    if (slot >= g->layout.slots) {
        return belfry__violation(g, "a descriptor names slot %u", slot);
    }
    if ((uint64_t)offset + length > g->layout.slot_size - BELFRY__GENERATION_BYTES) {
        return belfry__violation(g, "a payload starts at %u of its slot", offset);
    }
    uint8_t *place = belfry__slot(g, 0, slot);
    _Atomic uint32_t *now = (_Atomic uint32_t *)place;
    if (atomic_load_explicit(now, memory_order_relaxed) != generation) {
        return belfry__violation(g, "generation %u is not that of slot %u", generation, slot);
    }
    if (g->accepted[slot] == generation) {
        return belfry__violation(g, "slot %u came a second time", slot);
    }
    memcpy(g->buffer, place + BELFRY__GENERATION_BYTES + offset, length);
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(now, memory_order_acquire) != generation) {
        return belfry__violation(g, "slot %u was changed while it was read", slot);
    }
    g->accepted[slot] = generation;
    uint64_t bit = UINT64_C(1) << (slot % 64);
    uint64_t before = atomic_fetch_or_explicit(
        belfry__bitmap(g, 0) + slot / 64, bit, memory_order_release);
    if (before & bit) {
        return belfry__violation(g, "a descriptor names slot %u, which is free", slot);
    }
    return BELFRY_OK;
}

static inline belfry_result belfry__take(belfry_guest *g, belfry_message *message) {
    belfry_result result = belfry__look(g);
    if (result != BELFRY_OK) {
        return result;
    }
    _Atomic uint64_t *descriptor = belfry__descriptor(g, &g->in, g->tail);
    uint64_t words[4];
    for (int i = 0; i < 4; i++) {
        words[i] = atomic_load_explicit(descriptor + i, memory_order_relaxed);
    }
    uint8_t kind = (uint8_t)words[0];
    uint32_t slot = (uint32_t)words[2], generation = (uint32_t)(words[2] >> 32);
    uint32_t offset = (uint32_t)words[3], length = (uint32_t)(words[3] >> 32);
    if (kind < BELFRY_REQUEST || kind > BELFRY_GOODBYE) {
        return belfry__violation(g, "a message of the kind %u", kind);
    }
    bool in_slot = slot != BELFRY__INLINE;
    if (in_slot) {
        result = belfry__take_slot(g, slot, generation, offset, length);
        if (result != BELFRY_OK) {
            return result;
        }
    } else {
        if (generation != 0 || offset != 0) {
            return belfry__violation(g, "an inline message has a generation or an offset");
        }
        bool in_pocket = length > g->layout.inline_bytes;
        if (in_pocket && (length > g->layout.pocket_bytes || length > g->layout.max_payload)) {
            return belfry__violation(g, "an inline message of %u bytes", length);
        }
        uint8_t *payload = in_pocket ? belfry__pocket(g, &g->in, g->tail)
                                     : (uint8_t *)descriptor + BELFRY__FIELD_BYTES;
        memcpy(g->buffer, payload, length);
    }
    *message = (belfry_message){
        .kind = kind,
        .id = (uint32_t)(words[0] >> 32),
        .method_id = words[1],
        .bytes = g->buffer,
        .length = length,
    };
    belfry__consume(g, in_slot);
    return BELFRY_OK;
}

static inline belfry_result belfry__receive(
    belfry_guest *g, belfry_message *message, int64_t deadline) {
    belfry_result result = belfry__take(g, message);
    if (result == BELFRY_EMPTY && deadline != BELFRY_NOW) {
        result = belfry__wait(g, BELFRY__DATA, deadline);
        return result == BELFRY_OK ? belfry__take(g, message) : result;
    }
    if (result == BELFRY_EMPTY) {
        belfry_result end = belfry_end(g);
        if (end != BELFRY_OK) {
            result = belfry__take(g, message); /* a message from before the end still counts */
            return result == BELFRY_EMPTY ? end : result;
        }
    }
    return result;
}

/*
 * The host reclaims the entry of a guest without a bell as soon as the guest has left, although its
 * process lives on. So leaving waits for the receiver to finish: each sets its own word before it
 * reads the other's, so at least one of them sees the other.
 */
static inline belfry_result belfry_receive(
    belfry_guest *g, belfry_message *message, int64_t deadline) {
    if (g->bell >= 0) {
        return belfry__receive(g, message, deadline);
    }
    atomic_store(&g->receiving, true);
    belfry_result result = atomic_load(&g->detached) ? belfry_end(g)
                                                     : belfry__receive(g, message, deadline);
    atomic_store_explicit(&g->receiving, false, memory_order_release);
    return result;
}

static inline void belfry__await_receiver(belfry_guest *g) {
    while (atomic_load(&g->receiving)) {
        belfry__futex_wake(g->in.data_word); /* it may have been about to sleep */
        struct timespec pause = belfry__timespec(BELFRY__SILENT_SLICE_NS);
        nanosleep(&pause, NULL);
    }
}

static inline belfry_result belfry_listen(belfry_guest *g) {
    if (g->bell < 0) {
        return BELFRY_NO_DOORBELL;
    }
    if (g->layout.padded) { /* format 1 always rings */
        atomic_store_explicit(g->in.data_word, BELFRY__AT_BELL, memory_order_relaxed);
    }
    atomic_thread_fence(memory_order_seq_cst);
    belfry_result result = belfry__look(g);
    return result == BELFRY_EMPTY ? belfry__stop(g, BELFRY__DATA, BELFRY_FOREVER, 0) : result;
}

/* ---------------------------------------------------------------------------------------------
 * Sending.
 */

/* Allocates a slot of our pool and increments its generation; false if there is none. */
static inline bool belfry__allocate(belfry_guest *g, uint32_t *slot, uint32_t *generation) {
    for (uint32_t i = 0; i < g->layout.bitmap_words; i++) {
        _Atomic uint64_t *place = belfry__bitmap(g, g->peer) + i;
        uint64_t word = atomic_load_explicit(place, memory_order_acquire);
        while (word & belfry__existing(g, i)) {
            uint32_t bit = (uint32_t)__builtin_ctzll(word & belfry__existing(g, i));
            if (atomic_compare_exchange_weak_explicit(place, &word, word & ~(UINT64_C(1) << bit),
                    memory_order_acq_rel, memory_order_acquire)) {
                *slot = 64 * i + bit;
                _Atomic uint32_t *count = (_Atomic uint32_t *)belfry__slot(g, g->peer, *slot);
                *generation = atomic_load_explicit(count, memory_order_relaxed) + 1;
                atomic_store_explicit(count, *generation, memory_order_relaxed);
                return true;
            }
        }
    }
    return false;
}

/* Whether fewer than so many messages are unread: BELFRY_OK, BELFRY_RING_FULL or a violation. */
static inline belfry_result belfry__unread_below(belfry_guest *g, uint32_t limit) {
    if (g->head - g->tail_seen >= limit) {
        uint32_t unread;
        belfry_result result = belfry__unread(g, &unread);
        if (result != BELFRY_OK) {
            return result;
        }
        g->tail_seen = g->head - unread;
    }
    return g->head - g->tail_seen < limit ? BELFRY_OK : BELFRY_RING_FULL;
}

/* Finds the place of the next payload, if it does not fit its descriptor. */
static inline belfry_result belfry__place(
    belfry_guest *g, uint32_t length, uint8_t **payload, uint32_t *slot, uint32_t *generation) {
    if (length > g->layout.max_payload) {
        return BELFRY_TOO_LARGE;
    }
    if (length <= g->layout.pocket_bytes) {
        belfry_result result = belfry__unread_below(g, g->layout.pockets);
        if (result != BELFRY_RING_FULL) { /* otherwise the pocket still holds an unread message */
            *payload = belfry__pocket(g, &g->out, g->head);
            return result;
        }
    }
    if (!belfry__allocate(g, slot, generation)) {
        return BELFRY_NO_SLOT;
    }
    *payload = belfry__slot(g, g->peer, *slot) + BELFRY__GENERATION_BYTES;
    return BELFRY_OK;
}

static inline belfry_result belfry_stage(belfry_guest *g, const belfry_message *message) {
    uint8_t kind = message->kind;
    if (kind < BELFRY_REQUEST || kind > BELFRY_GOODBYE) {
        return BELFRY_BAD_KIND;
    }
    belfry_result result = belfry_end(g);
    if (result == BELFRY_OK) {
        result = belfry__unread_below(g, belfry__capacity(g));
    }
    if (result != BELFRY_OK) {
        return result;
    }
    _Atomic uint64_t *descriptor = belfry__descriptor(g, &g->out, g->head);
    uint32_t slot = BELFRY__INLINE;
    uint32_t generation = 0;
    uint8_t *payload = (uint8_t *)descriptor + BELFRY__FIELD_BYTES;
    bool elsewhere = message->length > g->layout.inline_bytes;
    if (elsewhere) {
        result = belfry__place(g, message->length, &payload, &slot, &generation);
        if (result != BELFRY_OK) {
            return result;
        }
    }
    if (message->length > 0) {
        memcpy(payload, message->bytes, message->length);
    }
    /* Zeros after the payload, not the bytes of the previous lap. */
    uint32_t used = elsewhere ? 0 : message->length;
    uint32_t whole = used < 32 ? 32 : (uint32_t)belfry__align(used, 8);
    memset((uint8_t *)descriptor + BELFRY__FIELD_BYTES + used, 0, whole - used);
    uint64_t words[4] = {
        kind | (uint64_t)belfry__lap_mark(g, g->head) << 16 | (uint64_t)message->id << 32,
        message->method_id,
        slot | (uint64_t)generation << 32,
        (uint64_t)message->length << 32,
    };
    for (int i = 3; i > 0; i--) {
        atomic_store_explicit(descriptor + i, words[i], memory_order_relaxed);
    }
    /* The first word last: in the padded placement its lap mark announces the rest. */
    atomic_store_explicit(descriptor, words[0], memory_order_release);
    g->head++;
    return BELFRY_OK;
}

static inline belfry_result belfry_send(
    belfry_guest *g, const belfry_message *message, int64_t deadline) {
    while (true) {
        belfry_result result = belfry_stage(g, message);
        belfry_publish(g); /* including what was staged: the host can read only what it sees */
        bool waits = result == BELFRY_RING_FULL || result == BELFRY_NO_SLOT;
        if (!waits || deadline == BELFRY_NOW) {
            return result;
        }
        belfry__condition room = result == BELFRY_RING_FULL ? BELFRY__SPACE
            : message->length <= g->layout.pocket_bytes     ? BELFRY__PLACE
                                                            : BELFRY__SLOT;
        result = belfry__wait(g, room, deadline);
        if (result != BELFRY_OK) {
            return result;
        }
    }
}

/* ---------------------------------------------------------------------------------------------
 * The lifeline: a thread that only shows that this process is alive, and watches whether the host
 * is. A robust mutex and the parent-death signal belong to a thread, whose end the kernel takes for
 * ours. The robust list is kept in private memory, with the offset to the one lock word in shared
 * memory, so that nothing another process writes can lead the kernel astray.
 */
static inline belfry_result belfry__lock(belfry_guest *g) {
    g->robust_entry.next = &g->robust.list;
    g->robust.list.next = &g->robust_entry;
    g->robust.futex_offset = (long)((intptr_t)g->mutex - (intptr_t)&g->robust_entry);
    g->robust.list_op_pending = NULL;
    if (syscall(SYS_set_robust_list, &g->robust, sizeof g->robust) != 0) {
        return belfry__fail(g, BELFRY_SYSTEM, "set_robust_list: %s", strerror(errno));
    }
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    uint32_t word = atomic_load(g->mutex);
    do {
        if (word & FUTEX_TID_MASK) {
            return belfry__fail(g, BELFRY_NOT_RESERVED,
                "entry %d: thread %u still holds its mutex", g->peer, word & FUTEX_TID_MASK);
        }
    } while (!atomic_compare_exchange_weak(g->mutex, &word, (word & FUTEX_WAITERS) | thread));
    return BELFRY_OK;
}

/* Releases the mutex, unless the host has given our entry to another guest. */
static inline void belfry__unlock(belfry_guest *g) {
    uint32_t thread = (uint32_t)syscall(SYS_gettid);
    uint32_t word = atomic_load(g->mutex);
    while ((word & FUTEX_TID_MASK) == thread) {
        if (atomic_compare_exchange_weak(g->mutex, &word, 0)) {
            if (word & FUTEX_WAITERS) {
                belfry__futex_wake(g->mutex);
            }
            break;
        }
    }
    g->robust.list.next = &g->robust.list;
}

/* The host is gone. The kernel has killed us by now, unless a process stands between us. */
static inline void belfry__hung_up(belfry_guest *g) {
    atomic_store(&g->host_gone, true);
    belfry__futex_wake(g->in.data_word);
    belfry__futex_wake(g->out.space_word);
    if (g->bell >= 0 && !belfry__host_left(g)) {
        kill(getpid(), SIGKILL);
    }
}

/* Format 1 has no room for a mutex. Instead the guest locks the bytes of its entry in the segment's
   file, without changing them; the host sees when the kernel drops the lock. If locking fails, the
   host does not notice our death. */
static inline void belfry__lock_entry(const belfry_guest *g, short type) {
    if (!g->layout.padded) {
        struct flock lock = {
            .l_type = type,
            .l_whence = SEEK_SET,
            .l_start = (off_t)((uint8_t *)g->state - g->base),
            .l_len = (off_t)g->layout.entry_bytes,
        };
        fcntl(g->file, F_OFD_SETLK, &lock);
    }
}

/* Whether the host holds its lock on the header in the segment's file; foreign hosts may hold none.
   If the lock cannot be queried, the second parameter is the result. */
static inline bool belfry__host_locks(const belfry_guest *g, bool otherwise) {
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = BELFRY__HEADER_BYTES};
    return fcntl(g->file, F_OFD_GETLK, &lock) == 0 ? lock.l_type != F_UNLCK : otherwise;
}

static inline belfry_result belfry__check_host(belfry_guest *g) {
    if (g->bell < 0) {
        g->watches_lock = belfry__host_locks(g, false);
        return BELFRY_OK;
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) {
        return belfry__fail(g, BELFRY_SYSTEM, "prctl: %s", strerror(errno));
    }
    /* From here on the kernel kills us with the host. If it died before, its end is closed. */
    struct pollfd bell = {.fd = g->bell};
    bool gone = g->datagrams ? belfry_ring(g) == BELFRY_HOST_GONE
                             : poll(&bell, 1, 0) > 0 && (bell.revents & (POLLHUP | POLLERR));
    return gone ? belfry__fail(g, BELFRY_HOST_GONE, "the host that started this guest is gone")
                : BELFRY_OK;
}

/* Writes a heartbeat, but only while the entry is ours. */
static inline void belfry__beat_once(belfry_guest *g, int64_t now) {
    if (g->layout.heartbeat_ns > 0 && !belfry__evicted(g)) {
        atomic_store_explicit(belfry__heartbeat(g), (uint64_t)now, memory_order_release);
    }
}

/* Writes a heartbeat and polls for changes without notice; returns when to do so again. */
static inline int64_t belfry__beat(belfry_guest *g) {
    int64_t now = belfry__now();
    int64_t next = BELFRY_FOREVER;
    if (g->layout.heartbeat_ns > 0) {
        belfry__beat_once(g, now);
        next = now + (int64_t)(g->layout.heartbeat_ns / 2);
    }
    bool gone = atomic_load(&g->host_gone);
    if (g->datagrams || (g->watches_lock && !gone)) { /* no hang-up tells of the host's end */
        if (g->datagrams ? gone : !belfry__host_locks(g, true)) {
            belfry__hung_up(g);
        }
        next = belfry__earlier(next, now + BELFRY__LOOK_NS);
    }
    return next;
}

static inline void *belfry__lifeline(void *argument) {
    belfry_guest *g = argument;
    belfry_result result = belfry__check_host(g);
    if (result == BELFRY_OK && g->mutex != NULL) {
        result = belfry__lock(g);
    }
    belfry__lock_entry(g, F_WRLCK);
    g->start_result = result;
    sem_post(&g->started);
    if (result != BELFRY_OK) {
        return NULL;
    }
    while (true) {
        int64_t next = belfry__beat(g);
        struct pollfd sources[2] = {
            {.fd = g->stop, .events = POLLIN},
            {.fd = atomic_load(&g->host_gone) ? -1 : g->bell}, /* hang-ups are reported unasked */
        };
        belfry__poll(sources, 2, next);
        if (sources[0].revents) {
            break;
        }
        if (sources[1].revents) {
            belfry__hung_up(g);
        }
    }
    if (g->mutex != NULL) {
        belfry__unlock(g);
    }
    belfry__lock_entry(g, F_UNLCK);
    return NULL;
}

static inline belfry_result belfry__start_lifeline(belfry_guest *g) {
    g->mutex = g->layout.padded ? (_Atomic uint32_t *)belfry__word(g, 0, 11) : NULL;
    g->stop = eventfd(0, EFD_CLOEXEC);
    if (g->stop < 0) {
        return belfry__fail(g, BELFRY_SYSTEM, "eventfd: %s", strerror(errno));
    }
    sem_init(&g->started, 0, 0);
    sigset_t all, before; /* leave signals to the program's own threads */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&g->lifeline, NULL, belfry__lifeline, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0) {
        return belfry__fail(g, BELFRY_SYSTEM, "pthread_create: %s", strerror(error));
    }
    g->has_lifeline = true;
    while (sem_wait(&g->started) != 0) {
    }
    return g->start_result;
}

/* Releases the mutex or lock; from then on our end does not look like a death. */
static inline void belfry__end_lifeline(belfry_guest *g) {
    if (g->has_lifeline) {
        eventfd_write(g->stop, 1);
        pthread_join(g->lifeline, NULL);
        g->has_lifeline = false;
    }
    if (g->stop >= 0) {
        close(g->stop);
        g->stop = -1;
        sem_destroy(&g->started);
    }
}

/* ---------------------------------------------------------------------------------------------
 * Attaching and leaving.
 */

/* Reads and validates the header; each value is read once. */
static inline belfry_result belfry__read_header(
    belfry_guest *g, const char *path, uint64_t file_bytes) {
    uint8_t header[BELFRY__HEADER_BYTES];
    if (pread(g->file, header, sizeof header, 0) != (ssize_t)sizeof header) {
        return belfry__fail(g, BELFRY_NOT_A_SEGMENT, "%s has %llu bytes, too few for a segment",
            path, (unsigned long long)file_bytes);
    }
    if (belfry__u64(header, 0) != BELFRY__MAGIC) {
        return belfry__fail(g, BELFRY_NOT_A_SEGMENT, "%s does not begin as a segment does", path);
    }
    uint32_t version = belfry__u32(header, 8);
    bool padded = version == BELFRY__PADDED;
    if (version != BELFRY__V1 && !padded) {
        return belfry__fail(g, BELFRY_BAD_VERSION, "%s has the unknown version %u", path, version);
    }
    uint32_t features = padded ? belfry__u32(header, 80) : 0;
    if (belfry__u32(header, 12) != BELFRY__HEADER_BYTES || features != 0) {
        return belfry__fail(g, BELFRY_BAD_VERSION, "%s has an unknown header or features", path);
    }
    belfry__layout *l = &g->layout;
    *l = (belfry__layout){
        .padded = padded,
        .max_payload = belfry__u32(header, 24),
        .initial_credit = belfry__u32(header, 28),
        .max_guests = belfry__u32(header, 32),
        .ring_size = belfry__u32(header, 36),
        .slot_size = belfry__u32(header, 56),
        .slots = belfry__u32(header, 60),
        .max_channels = belfry__u32(header, 64),
        .heartbeat_ns = belfry__u64(header, 72),
    };
    bool sizes = l->max_guests >= 1 && l->max_guests <= 255 && l->ring_size >= 2
        && l->ring_size <= INT32_MAX && (l->ring_size & (l->ring_size - 1)) == 0
        && l->slot_size >= 8 && l->slot_size <= INT32_MAX && l->slot_size % 8 == 0 && l->slots >= 1
        && l->slots <= INT32_MAX && l->max_channels >= 1 && l->max_channels <= INT32_MAX
        && l->max_payload >= 1 && l->max_payload <= l->slot_size - BELFRY__GENERATION_BYTES
        && l->heartbeat_ns <= INT64_MAX;
    if (!sizes) {
        return belfry__fail(g, BELFRY_BAD_HEADER, "%s has sizes that no segment can have", path);
    }
    if (!belfry__compute(l, file_bytes) || belfry__u64(header, 16) != l->total
        || belfry__u64(header, 40) != BELFRY__HEADER_BYTES
        || belfry__u64(header, 48) != l->slot_region) {
        return belfry__fail(
            g, BELFRY_BAD_HEADER, "%s is cut, or its header does not fit itself", path);
    }
    return BELFRY_OK;
}

/* Whether a path names a descriptor of some process, as that of a memfd does. */
static inline bool belfry__is_descriptor(const char *path) {
    return strncmp(path, "/proc/", 6) == 0;
}

static inline belfry_result belfry__map(belfry_guest *g, const char *path) {
    /* The descriptor of a memfd is a link in /proc; elsewhere a link could point to any file.
       Opening must not wait for the other end of a FIFO. */
    int follow = belfry__is_descriptor(path) ? 0 : O_NOFOLLOW;
    g->file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | follow);
    if (g->file < 0) {
        return belfry__fail(g, BELFRY_SYSTEM, "cannot open %s: %s", path, strerror(errno));
    }
    struct stat status;
    if (fstat(g->file, &status) != 0 || !S_ISREG(status.st_mode)) {
        return belfry__fail(g, BELFRY_NOT_A_SEGMENT, "%s is not a regular file", path);
    }
    belfry_result result = belfry__read_header(g, path, (uint64_t)status.st_size);
    if (result != BELFRY_OK) {
        return result;
    }
    void *base = mmap(NULL, g->layout.total, PROT_READ | PROT_WRITE, MAP_SHARED, g->file, 0);
    if (base == MAP_FAILED) {
        return belfry__fail(g, BELFRY_SYSTEM, "cannot map %s: %s", path, strerror(errno));
    }
    g->base = base;
    if (belfry__host_left(g)) {
        return belfry__fail(g, BELFRY_HOST_GOODBYE, "%s belongs to a host that has left", path);
    }
    g->buffer = malloc(belfry_max_payload(g));
    g->accepted = malloc(g->layout.slots * sizeof *g->accepted);
    if (g->buffer == NULL || g->accepted == NULL) {
        return belfry__fail(g, BELFRY_SYSTEM, "no memory for messages of %s", path);
    }
    memset(g->accepted, 0xff, g->layout.slots * sizeof *g->accepted); /* not a valid generation */
    return BELFRY_OK;
}

static inline void belfry__choose(belfry_guest *g, int peer) {
    g->peer = peer;
    g->state = (_Atomic uint64_t *)belfry__word(g, 0, 0);
    g->out = belfry__ring_of(g, BELFRY__TO_HOST);
    g->in = belfry__ring_of(g, BELFRY__TO_GUEST);
}

/* Takes the entry if it is in the given state. State and epoch change together, so that a guest is
   never seen with the epoch of its predecessor. */
static inline bool belfry__take_entry(belfry_guest *g, uint32_t from, uint32_t more_epochs) {
    uint64_t now = atomic_load_explicit(g->state, memory_order_acquire);
    g->attached = BELFRY__ATTACHED | (uint64_t)((uint32_t)(now >> 32) + more_epochs) << 32;
    if ((uint32_t)now != from || !atomic_compare_exchange_strong(g->state, &now, g->attached)) {
        return false;
    }
    memset(belfry__area(g) + g->layout.channels_in_area, 0, g->layout.channel_table_bytes);
    belfry__beat_once(g, belfry__now()); /* the first one comes with attaching */
    return true;
}

/* Says goodbye, unless the host has already given us up. */
static inline void belfry__leave(belfry_guest *g) {
    uint64_t mine = g->attached;
    atomic_compare_exchange_strong(g->state, &mine, belfry__left(g));
}

static inline void belfry__give_back(belfry_guest *g) {
    belfry__end_lifeline(g);
    if (g->base != NULL) {
        munmap(g->base, g->layout.total);
        g->base = NULL;
    }
    if (g->file >= 0) {
        close(g->file);
    }
    if (g->bell >= 0) {
        close(g->bell);
    }
    free(g->buffer);
    free(g->accepted);
    g->file = g->bell = -1;
    g->buffer = NULL;
    g->accepted = NULL;
}

static inline void belfry__begin(belfry_guest *g) {
    memset(g, 0, sizeof *g);
    g->file = g->bell = g->stop = -1;
    g->send_spin_ns = g->receive_spin_ns = BELFRY__MOST_SPIN_NS;
}

static inline belfry_result belfry__enter(belfry_guest *g, const char *path) {
    belfry_result result = belfry__map(g, path);
    if (result != BELFRY_OK) {
        return result;
    }
    /* Hosts of the padded placement are always Belfry hosts, which lock their files. */
    bool known = g->layout.padded && !belfry__is_descriptor(path);
    if (known && !belfry__host_locks(g, true)) {
        return belfry__fail(g, BELFRY_HOST_GONE,
            "%s was left behind by a host that is gone; the next one replaces it", path);
    }
    for (int peer = 1; peer <= (int)g->layout.max_guests; peer++) {
        belfry__choose(g, peer);
        if (belfry__take_entry(g, BELFRY__EMPTY, 1)) {
            result = belfry__start_lifeline(g);
            if (result != BELFRY_OK) {
                belfry__leave(g);
            }
            return result;
        }
    }
    return belfry__fail(g, BELFRY_NO_FREE_ENTRY,
        "%s: no free peer entry, all %u are taken", path, g->layout.max_guests);
}

static inline belfry_result belfry_walk_in(belfry_guest *g, const char *path) {
    belfry__begin(g);
    belfry_result result = belfry__enter(g, path);
    if (result != BELFRY_OK) {
        belfry__give_back(g);
    }
    return result;
}

/* Takes over the inherited end of the bell, if it is a socket. */
static inline belfry_result belfry__adopt_bell(belfry_guest *g, int bell) {
    int type;
    socklen_t length = sizeof type;
    if (getsockopt(bell, SOL_SOCKET, SO_TYPE, &type, &length) != 0) {
        return belfry__fail(g, BELFRY_BAD_DOORBELL,
            "--doorbell-fd=%d: %s; was it passed on to this process?", bell, strerror(errno));
    }
    fcntl(bell, F_SETFD, FD_CLOEXEC);
    g->bell = bell;
    g->datagrams = type == SOCK_DGRAM;
    return BELFRY_OK;
}

/* A number of at most nine digits, or -1. */
static inline int belfry__number(const char *text) {
    int number = 0;
    size_t length = strspn(text, "0123456789");
    if (length == 0 || length > 9 || text[length] != '\0') {
        return -1;
    }
    for (size_t i = 0; i < length; i++) {
        number = 10 * number + (text[i] - '0');
    }
    return number;
}

/* Sets close-on-exec on an inherited segment: programs started by this one must not get it. */
static inline void belfry__keep_to_ourselves(const char *path) {
    static const char inherited[] = "/proc/self/fd/";
    if (strncmp(path, inherited, sizeof inherited - 1) == 0) {
        fcntl(belfry__number(path + sizeof inherited - 1), F_SETFD, FD_CLOEXEC);
    }
}

static inline belfry_result belfry__claim(belfry_guest *g, const char *path, int peer, int bell) {
    belfry_result result = belfry__adopt_bell(g, bell);
    if (result == BELFRY_OK) {
        belfry__keep_to_ourselves(path);
        result = belfry__map(g, path);
    }
    if (result != BELFRY_OK) {
        return result;
    }
    if (peer > (int)g->layout.max_guests) {
        return belfry__fail(g, BELFRY_BAD_TICKET, "--peer-id=%d: %s has entries for %u guests",
            peer, path, g->layout.max_guests);
    }
    belfry__choose(g, peer);
    result = belfry__start_lifeline(g);
    if (result != BELFRY_OK) {
        return result;
    }
    if (!belfry__take_entry(g, BELFRY__RESERVED, 0)) {
        return belfry__fail(g, BELFRY_NOT_RESERVED,
            "%s: entry %d is not reserved; a ticket is good for one guest, once", path, peer);
    }
    belfry_ring(g);
    return BELFRY_OK;
}

static inline const char *belfry__argument(const char *option, int argc, char *const argv[]) {
    size_t length = strlen(option);
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], option, length) == 0) {
            return argv[i] + length;
        }
    }
    return NULL;
}

static inline belfry_result belfry_attach(belfry_guest *g, int argc, char *const argv[]) {
    belfry__begin(g);
    const char *path = belfry__argument("--hub-path=", argc, argv);
    const char *peer = belfry__argument("--peer-id=", argc, argv);
    const char *bell = belfry__argument("--doorbell-fd=", argc, argv);
    if (path == NULL || *path == '\0') {
        return belfry__fail(g, BELFRY_BAD_TICKET, "--hub-path=PATH is missing");
    }
    if (peer == NULL && bell == NULL) {
        return belfry_walk_in(g, path);
    }
    if (peer == NULL || bell == NULL) {
        const char *missing = peer == NULL ? "--peer-id=N" : "--doorbell-fd=N";
        return belfry__fail(g, BELFRY_BAD_TICKET, "%s is missing", missing);
    }
    int peer_id = belfry__number(peer);
    if (peer_id < 1 || peer_id > 255) {
        return belfry__fail(
            g, BELFRY_BAD_TICKET, "--peer-id=%.40s: a peer id is a number from 1 to 255", peer);
    }
    int descriptor = belfry__number(bell);
    if (descriptor < 0) {
        return belfry__fail(g, BELFRY_BAD_TICKET,
            "--doorbell-fd=%.40s: the number of an open socket is needed", bell);
    }
    belfry_result result = belfry__claim(g, path, peer_id, descriptor);
    if (result != BELFRY_OK) {
        belfry__give_back(g);
    }
    return result;
}

static inline belfry_result belfry_detach(belfry_guest *g, int64_t deadline) {
    if (g->base == NULL || atomic_load(&g->detached)) {
        return BELFRY_DETACHED;
    }
    belfry_result result = belfry_end(g);
    if (result == BELFRY_OK) {
        belfry_publish(g);
        result = belfry__wait(g, BELFRY__READ, deadline);
    }
    atomic_store(&g->detached, true);
    if (g->bell < 0) {
        belfry__await_receiver(g);
    }
    belfry__leave(g);
    belfry__end_lifeline(g);
    belfry_ring(g);
    belfry__futex_wake(g->in.data_word); /* nothing is left to wait for */
    belfry__futex_wake(g->out.space_word);
    return result;
}

static inline void belfry_close(belfry_guest *g) {
    belfry_detach(g, belfry_after_ms(1000));
    belfry__give_back(g);
}

#endif /* __cplusplus */
#endif
