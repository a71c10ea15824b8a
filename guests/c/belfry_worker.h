/*
 * A worker of a Belfry pool in one header on top of belfry_guest.h. It registers methods, and runs
 * the pool's calls one after the other on the thread that calls belfry_run. README.md says how to
 * use it, docs/protocol.md what goes over the ring.
 *
 *     static void shout(belfry_call *call, void *context) { ... belfry_answer(call, text, size); }
 *
 *     belfry_worker worker = {0};
 *     belfry_on(&worker, "shout", shout, NULL);
 *     return belfry_run(&worker, argc, argv);
 *
 * Names that begin with belfry__ are private to this file.
 */
#ifndef BELFRY_WORKER_H
#define BELFRY_WORKER_H

#include "belfry_guest.h"

#ifndef __cplusplus

/* ---------------------------------------------------------------------------------------------
 * The public interface.
 */

/* A call. The call and its payload are valid until the method returns. */
typedef struct belfry_call {
    const char *method;
    const void *payload;
    size_t length;
    int64_t deadline; /* how long the caller waits; as in belfry_guest.h */

    struct belfry_worker *worker;
    struct belfry_call *next;
    const struct belfry__method *runs;
    uint8_t *bytes;      /* the payload, owned by this call */
    size_t received;     /* so far, of a payload in chunks */
    uint32_t id, channel;
    bool cancelled, answered;
} belfry_call;

typedef void belfry_method(belfry_call *call, void *context);

/* A worker. Initialise it with zeros: it has no methods then. */
typedef struct belfry_worker belfry_worker;

/*
 * Adds a method with a name of 1 to 255 bytes in UTF-8, which must stay valid. Returns false if the
 * name is invalid, if a method has the same name or number, or if there is no memory.
 */
static inline bool belfry_on(
    belfry_worker *worker, const char *name, belfry_method *method, void *context);

/*
 * Runs calls until the pool says goodbye. Returns the exit code: 0 if the worker was told to end;
 * otherwise 1, after reporting the reason on standard error.
 */
static inline int belfry_run(belfry_worker *worker, int argc, char *const argv[]);

/* Answers a call; only the first answer counts. Without one, the answer has no bytes. */
static inline void belfry_answer(belfry_call *call, const void *bytes, size_t length);

/* Answers that the method has failed, with a reason in UTF-8. */
static inline void belfry_answer_failed(belfry_call *call, const char *why);

/* Whether the caller no longer waits for the answer. Long methods should test this now and then. */
static inline bool belfry_cancelled(belfry_call *call);

/* ---------------------------------------------------------------------------------------------
 * The bytes of calls and answers.
 */
#define BELFRY__MAX_BYTES (64u << 20)
#define BELFRY__PROTOCOL 1
#define BELFRY__REQUEST_HEADER 4u
#define BELFRY__REQUEST_IN_CHUNKS 0x80000000u
#define BELFRY__ANSWER_IN_CHUNKS 0x100u
#define BELFRY__ANNOUNCEMENT 12u /* a channel and a length */

enum { BELFRY__DONE, BELFRY__FAILED, BELFRY__UNKNOWN_METHOD, BELFRY__CANCELLED, BELFRY__TOO_LONG };

typedef struct belfry__request {
    uint32_t channel; /* 0: the payload follows the first four bytes */
    uint64_t length;
    uint32_t time_left_ms; /* 0: no limit */
} belfry__request;

/* One block of SHA-256 (FIPS 180-4). */
static inline void belfry__sha256_block(uint32_t state[8], const uint8_t *block) {
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
#define BELFRY__ROTATE(x, n) ((x) >> (n) | (x) << (32 - (n)))
    uint32_t w[64];
    for (int i = 0; i < 16; i++) {
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16
            | (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
    }
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (BELFRY__ROTATE(a, 7) ^ BELFRY__ROTATE(a, 18) ^ a >> 3) + w[i - 7]
            + (BELFRY__ROTATE(b, 17) ^ BELFRY__ROTATE(b, 19) ^ b >> 10);
    }
    uint32_t v[8];
    memcpy(v, state, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t e = v[4], a = v[0];
        uint32_t first = (BELFRY__ROTATE(e, 6) ^ BELFRY__ROTATE(e, 11) ^ BELFRY__ROTATE(e, 25))
            + ((e & v[5]) ^ (~e & v[6])) + v[7] + k[i] + w[i];
        uint32_t second = (BELFRY__ROTATE(a, 2) ^ BELFRY__ROTATE(a, 13) ^ BELFRY__ROTATE(a, 22))
            + ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += first;
        v[0] = first + second;
    }
#undef BELFRY__ROTATE
    for (int i = 0; i < 8; i++) {
        state[i] += v[i];
    }
}

/* A method's number: the first eight bytes of the SHA-256 of its name of at most 255 bytes. */
static inline uint64_t belfry__method_id(const char *name, size_t length) {
    uint8_t text[320] = {0}; /* five blocks: the name, a 1 bit, zeros, the length in bits */
    size_t blocks = (length + 9 + 63) / 64;
    memcpy(text, name, length);
    text[length] = 0x80;
    text[64 * blocks - 1] = (uint8_t)(8 * length);
    text[64 * blocks - 2] = (uint8_t)(8 * length >> 8);
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
        0x1f83d9ab, 0x5be0cd19};
    for (size_t i = 0; i < blocks; i++) {
        belfry__sha256_block(state, text + 64 * i);
    }
    uint64_t high = __builtin_bswap32(state[0]), low = __builtin_bswap32(state[1]);
    return high | low << 32; /* in the order of the bytes in memory */
}

/* Parses a request; false if it is malformed. */
static inline bool belfry__parse_request(
    const uint8_t *bytes, uint32_t length, belfry__request *request) {
    if (length < BELFRY__REQUEST_HEADER) {
        return false;
    }
    uint32_t first = belfry__u32(bytes, 0);
    request->time_left_ms = first & ~BELFRY__REQUEST_IN_CHUNKS;
    request->channel = 0;
    request->length = length - BELFRY__REQUEST_HEADER;
    if (!(first & BELFRY__REQUEST_IN_CHUNKS)) {
        return true;
    }
    if (request->length != BELFRY__ANNOUNCEMENT) {
        return false;
    }
    request->channel = belfry__u32(bytes, BELFRY__REQUEST_HEADER);
    request->length = belfry__u64(bytes, BELFRY__REQUEST_HEADER + 4);
    return request->channel != 0 && request->length <= BELFRY__MAX_BYTES;
}

/* Writes an answer whose payload follows on a channel. */
static inline void belfry__announce(uint8_t *bytes, uint32_t channel, uint64_t length) {
    memcpy(bytes, &channel, 4);
    memcpy(bytes + 4, &length, 8);
}

/* ---------------------------------------------------------------------------------------------
 * Channels. In this protocol only the sender ends a channel, and the receiver frees the entry when
 * it has read the end. So a free entry has nothing in flight any more.
 */
enum { BELFRY__FREE, BELFRY__ACTIVE, BELFRY__CLOSED };

static inline _Atomic uint32_t *belfry__channel(const belfry_guest *g, uint32_t id) {
    uint32_t bytes = g->layout.padded ? BELFRY__BLOCK : 16;
    uint8_t *table = belfry__area(g) + g->layout.channels_in_area;
    return (_Atomic uint32_t *)(table + (uint64_t)id * bytes);
}

/* The total number of bytes that the receiver has granted, modulo 2^32. */
static inline _Atomic uint32_t *belfry__granted(const belfry_guest *g, uint32_t id) {
    return belfry__channel(g, id) + (g->layout.padded ? BELFRY__LINE / 4 : 1);
}

static inline void belfry__grant(belfry_guest *g, uint32_t id, uint32_t bytes) {
    atomic_fetch_add_explicit(belfry__granted(g, id), bytes, memory_order_release);
    belfry__futex_wake(belfry__granted(g, id));
}

/* Opens one of our channels, which have odd ids, waiting for a free one; 0 after the end. */
static inline uint32_t belfry__open_channel(belfry_guest *g) {
    while (belfry_end(g) == BELFRY_OK) {
        for (uint32_t id = 1; id < g->layout.max_channels; id += 2) {
            uint32_t state = BELFRY__FREE;
            if (atomic_load_explicit(belfry__channel(g, id), memory_order_acquire) == state) {
                atomic_store_explicit(
                    belfry__granted(g, id), g->layout.initial_credit, memory_order_release);
                if (atomic_compare_exchange_strong(
                        belfry__channel(g, id), &state, BELFRY__ACTIVE)) {
                    return id;
                }
            }
        }
        struct timespec pause = belfry__timespec(BELFRY__SILENT_SLICE_NS / 2);
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Waits for credit for so many bytes more than those already sent. */
static inline belfry_result belfry__await_credit(
    belfry_guest *g, uint32_t id, uint32_t sent, uint32_t bytes) {
    _Atomic uint32_t *word = belfry__granted(g, id);
    while (true) {
        uint32_t granted = atomic_load_explicit(word, memory_order_acquire);
        if (granted - sent > INT32_MAX) {
            return belfry__violation(g, "channel %u: %u granted, %u sent", id, granted, sent);
        }
        if (granted - sent >= bytes) {
            return BELFRY_OK;
        }
        belfry_result end = belfry_end(g);
        if (end != BELFRY_OK) {
            return end;
        }
        belfry__futex_wait(word, granted, belfry__now() + BELFRY__SLICE_NS);
    }
}

/* Sends a payload on an announced channel, and ends the channel. */
static inline belfry_result belfry__send_chunks(
    belfry_guest *g, uint32_t id, const uint8_t *bytes, uint32_t length) {
    uint32_t half = g->layout.initial_credit / 2; /* write one while the host reads one */
    uint32_t most = half < belfry_max_payload(g) ? half : belfry_max_payload(g);
    belfry_result result = most > 0 ? BELFRY_OK : BELFRY_TOO_LARGE;
    for (uint32_t sent = 0; sent < length && result == BELFRY_OK;) {
        uint32_t chunk = length - sent < most ? length - sent : most;
        result = belfry__await_credit(g, id, sent, chunk);
        if (result == BELFRY_OK) {
            belfry_message data = {
                .kind = BELFRY_DATA, .id = id, .bytes = bytes + sent, .length = chunk};
            result = belfry_send(g, &data, BELFRY_FOREVER);
        }
        sent += chunk;
    }
    atomic_store_explicit(belfry__channel(g, id), BELFRY__CLOSED, memory_order_release);
    belfry_message end = {.kind = result == BELFRY_OK ? BELFRY_CLOSE : BELFRY_RESET, .id = id};
    belfry_result ended = belfry_send(g, &end, BELFRY_FOREVER);
    return result == BELFRY_OK ? ended : result;
}

/* ---------------------------------------------------------------------------------------------
 * The worker.
 */
typedef struct belfry__method {
    uint64_t id;
    const char *name;
    belfry_method *run;
    void *context;
} belfry__method;

struct belfry_worker {
    belfry_guest guest;
    belfry__method *methods;
    size_t method_count;
    belfry_call *waiting, **last; /* complete, in order of arrival */
    belfry_call *incoming;        /* with payloads still arriving */
    bool leaving;
    belfry_result trouble; /* met by a method in belfry_cancelled */
};

static inline bool belfry_on(
    belfry_worker *w, const char *name, belfry_method *method, void *context) {
    size_t length = strlen(name);
    if (length == 0 || length > 255) {
        return false;
    }
    belfry__method added = {belfry__method_id(name, length), name, method, context};
    for (size_t i = 0; i < w->method_count; i++) {
        if (w->methods[i].id == added.id) {
            return false;
        }
    }
    belfry__method *more = realloc(w->methods, (w->method_count + 1) * sizeof added);
    if (more == NULL) {
        return false;
    }
    w->methods = more;
    w->methods[w->method_count++] = added;
    return true;
}

/* The first message: the version, then each method's name, preceded by its length. */
static inline size_t belfry__hello(const belfry_worker *w, uint8_t *bytes, size_t room) {
    size_t at = 0;
    bytes[at++] = BELFRY__PROTOCOL;
    for (size_t i = 0; i < w->method_count; i++) {
        size_t length = strlen(w->methods[i].name);
        if (at + 1 + length > room) {
            return 0;
        }
        bytes[at++] = (uint8_t)length;
        memcpy(bytes + at, w->methods[i].name, length);
        at += length;
    }
    return at;
}

static inline belfry_result belfry__say_hello(belfry_worker *w) {
    size_t room = belfry_max_payload(&w->guest);
    uint8_t *bytes = malloc(room);
    size_t length = bytes == NULL ? 0 : belfry__hello(w, bytes, room);
    belfry_message hello = {.kind = BELFRY_RESPONSE, .bytes = bytes, .length = (uint32_t)length};
    belfry_result result = length == 0
        ? belfry__fail(&w->guest, BELFRY_TOO_LARGE, "the names of all methods")
        : belfry_send(&w->guest, &hello, BELFRY_FOREVER);
    free(bytes);
    return result;
}

static inline void belfry__forget(belfry_call *call) {
    free(call->bytes);
    free(call);
}

/* Whether a channel is the host's; those have even ids. */
static inline bool belfry__is_hosts(const belfry_guest *g, uint32_t channel) {
    return channel != 0 && channel % 2 == 0 && channel < g->layout.max_channels;
}

static inline belfry_call **belfry__incoming_on(belfry_worker *w, uint32_t channel) {
    belfry_call **place = &w->incoming;
    while (*place != NULL && (*place)->channel != channel) {
        place = &(*place)->next;
    }
    return place;
}

/* Answers. A failure to send is ignored: the pool is gone then, and belfry_receive reports it. */
static inline void belfry__respond(
    belfry_call *call, uint64_t status, const void *bytes, size_t length) {
    belfry_guest *g = &call->worker->guest;
    if (call->answered) {
        return;
    }
    call->answered = true;
    if (length > BELFRY__MAX_BYTES) {
        status = BELFRY__TOO_LONG;
        length = 0;
    }
    belfry_message response = {.kind = BELFRY_RESPONSE, .id = call->id, .method_id = status,
        .bytes = bytes, .length = (uint32_t)length};
    if (length <= belfry_max_payload(g)) {
        belfry_send(g, &response, BELFRY_FOREVER);
        return;
    }
    uint32_t channel = belfry__open_channel(g);
    if (channel != 0) {
        uint8_t announcement[BELFRY__ANNOUNCEMENT];
        belfry__announce(announcement, channel, length);
        response.method_id |= BELFRY__ANSWER_IN_CHUNKS;
        response.bytes = announcement;
        response.length = sizeof announcement;
        if (belfry_send(g, &response, BELFRY_FOREVER) == BELFRY_OK) {
            belfry__send_chunks(g, channel, bytes, (uint32_t)length);
        }
    }
}

static inline void belfry_answer(belfry_call *call, const void *bytes, size_t length) {
    belfry__respond(call, BELFRY__DONE, bytes, length);
}

static inline void belfry_answer_failed(belfry_call *call, const char *why) {
    int status = call->cancelled ? BELFRY__CANCELLED : BELFRY__FAILED;
    belfry__respond(call, (uint64_t)status, why, strlen(why));
}

static inline void belfry__complete(belfry_call *call) {
    belfry_worker *w = call->worker;
    call->payload = call->bytes;
    call->next = NULL;
    *w->last = call;
    w->last = &call->next;
}

static inline belfry_result belfry__take_request(belfry_worker *w, const belfry_message *message) {
    belfry__request request;
    if (!belfry__parse_request(message->bytes, message->length, &request)) {
        return belfry__violation(&w->guest, "a call that is none, of %u bytes", message->length);
    }
    if (request.channel != 0
        && (!belfry__is_hosts(&w->guest, request.channel)
            || *belfry__incoming_on(w, request.channel) != NULL)) {
        return belfry__violation(&w->guest, "a payload on channel %u", request.channel);
    }
    belfry_call *call = calloc(1, sizeof *call);
    if (call == NULL || (call->bytes = malloc(request.length + 1)) == NULL) {
        free(call);
        return belfry__fail(&w->guest, BELFRY_SYSTEM, "no memory for a call");
    }
    call->worker = w;
    call->id = message->id;
    call->channel = request.channel;
    call->length = request.length;
    call->deadline =
        request.time_left_ms == 0 ? BELFRY_FOREVER : belfry_after_ms(request.time_left_ms);
    for (size_t i = 0; i < w->method_count; i++) {
        if (w->methods[i].id == message->method_id) {
            call->runs = &w->methods[i];
            call->method = call->runs->name;
        }
    }
    if (call->channel == 0) {
        memcpy(call->bytes, (const uint8_t *)message->bytes + BELFRY__REQUEST_HEADER, call->length);
        belfry__complete(call);
    } else {
        call->next = w->incoming;
        w->incoming = call;
    }
    return BELFRY_OK;
}

/* Handles Data, Close or Reset of a channel. */
static inline belfry_result belfry__take_chunk(belfry_worker *w, const belfry_message *message) {
    belfry_guest *g = &w->guest;
    uint32_t id = message->id;
    if (!belfry__is_hosts(g, id)) {
        return belfry__violation(g, "a message of channel %u", id);
    }
    belfry_call **place = belfry__incoming_on(w, id);
    belfry_call *call = *place;
    if (message->kind == BELFRY_DATA) {
        if (call == NULL || message->length > call->length - call->received) {
            return belfry__violation(g, "%u bytes too many on channel %u", message->length, id);
        }
        memcpy(call->bytes + call->received, message->bytes, message->length);
        call->received += message->length;
        belfry__grant(g, id, message->length);
        return BELFRY_OK;
    }
    _Atomic uint32_t *state = belfry__channel(g, id);
    if (atomic_load_explicit(state, memory_order_acquire) != BELFRY__CLOSED) {
        return belfry__violation(g, "the end of channel %u, which is not closed", id);
    }
    atomic_store_explicit(state, BELFRY__FREE, memory_order_release);
    if (call == NULL) {
        return BELFRY_OK; /* given up before it was announced */
    }
    *place = call->next;
    if (message->kind == BELFRY_RESET) {
        belfry__forget(call);
        return BELFRY_OK;
    }
    if (call->received < call->length) {
        return belfry__violation(
            g, "%zu of %zu bytes on channel %u", call->received, call->length, id);
    }
    belfry__complete(call);
    return BELFRY_OK;
}

/* The caller of a call no longer waits. A call that has not begun is answered at once. */
static inline void belfry__take_cancel(belfry_worker *w, uint32_t id, belfry_call *running) {
    if (running != NULL) {
        running->cancelled |= running->id == id;
    }
    for (belfry_call *call = w->incoming; call != NULL; call = call->next) {
        call->cancelled |= call->id == id;
    }
    for (belfry_call **place = &w->waiting; *place != NULL; place = &(*place)->next) {
        belfry_call *call = *place;
        if (call->id == id) {
            *place = call->next;
            if (call->next == NULL) {
                w->last = place;
            }
            belfry__respond(call, BELFRY__CANCELLED, NULL, 0);
            belfry__forget(call);
            return;
        }
    }
}

static inline belfry_result belfry__take_message(
    belfry_worker *w, const belfry_message *message, belfry_call *running) {
    switch (message->kind) {
    case BELFRY_REQUEST:
        return belfry__take_request(w, message);
    case BELFRY_DATA:
    case BELFRY_CLOSE:
    case BELFRY_RESET:
        return belfry__take_chunk(w, message);
    case BELFRY_CANCEL:
        belfry__take_cancel(w, message->id, running);
        return w->trouble;
    case BELFRY_GOODBYE:
        w->leaving = true;
        return BELFRY_OK;
    default:
        return belfry__violation(&w->guest, "the pool answers, but was not called");
    }
}

static inline bool belfry_cancelled(belfry_call *call) {
    belfry_worker *w = call->worker;
    belfry_message message;
    while (!call->cancelled && w->trouble == BELFRY_OK
        && belfry_receive(&w->guest, &message, BELFRY_NOW) == BELFRY_OK) {
        w->trouble = belfry__take_message(w, &message, call);
    }
    call->cancelled |= belfry__now() >= call->deadline; /* the pool is about to cancel it */
    return call->cancelled || w->trouble != BELFRY_OK || belfry_end(&w->guest) != BELFRY_OK;
}

static inline void belfry__run_first(belfry_worker *w) {
    belfry_call *call = w->waiting;
    w->waiting = call->next;
    if (w->waiting == NULL) {
        w->last = &w->waiting;
    }
    if (call->runs == NULL) {
        belfry__respond(call, BELFRY__UNKNOWN_METHOD, NULL, 0);
    } else if (call->cancelled) {
        belfry__respond(call, BELFRY__CANCELLED, NULL, 0);
    } else {
        call->runs->run(call, call->runs->context);
        belfry_answer(call, NULL, 0); /* ignored if the method has answered */
    }
    belfry__forget(call);
}

/* Serves until the pool has said goodbye and no call waits, or until a failure. */
static inline belfry_result belfry__serve(belfry_worker *w) {
    belfry_result result = belfry__say_hello(w);
    while (result == BELFRY_OK) {
        belfry_message message;
        if (w->waiting != NULL) {
            /* Read everything first: waiting calls may have been cancelled. */
            while (w->trouble == BELFRY_OK
                && belfry_receive(&w->guest, &message, BELFRY_NOW) == BELFRY_OK) {
                w->trouble = belfry__take_message(w, &message, NULL);
            }
            if (w->trouble == BELFRY_OK && w->waiting != NULL) {
                belfry__run_first(w);
            }
            result = w->trouble;
        } else if (w->leaving) {
            return BELFRY_HOST_GOODBYE;
        } else {
            result = belfry_receive(&w->guest, &message, BELFRY_FOREVER);
            if (result == BELFRY_OK) {
                result = belfry__take_message(w, &message, NULL);
            }
        }
    }
    return result;
}

static inline void belfry__forget_all(belfry_call *call) {
    while (call != NULL) {
        belfry_call *next = call->next;
        belfry__forget(call);
        call = next;
    }
}

static inline int belfry_run(belfry_worker *w, int argc, char *const argv[]) {
    w->waiting = w->incoming = NULL;
    w->last = &w->waiting;
    w->leaving = false;
    w->trouble = BELFRY_OK;
    belfry_result result = belfry_attach(&w->guest, argc, argv);
    if (result == BELFRY_OK) {
        result = belfry__serve(w);
        belfry_close(&w->guest);
    }
    if (result != BELFRY_HOST_GOODBYE) {
        const char *details = belfry_error(&w->guest);
        fprintf(stderr, "%s: %s%s%s\n", argv[0], belfry_text(result), *details ? ": " : "", details);
    }
    belfry__forget_all(w->waiting);
    belfry__forget_all(w->incoming);
    free(w->methods);
    w->methods = NULL;
    w->method_count = 0;
    return result == BELFRY_HOST_GOODBYE ? 0 : 1;
}

#endif /* __cplusplus */
#endif
