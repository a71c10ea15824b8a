/*
 * A worker: PoolOptions.of("./worker") is a pool of it.
 *
 *     gcc -std=c11 -O2 -pthread -o worker worker.c
 */
#include "belfry_worker.h"

#include <ctype.h>

static void echo(belfry_call *call, void *context) {
    (void)context;
    belfry_answer(call, call->payload, call->length);
}

static void upper(belfry_call *call, void *context) {
    (void)context;
    const unsigned char *text = call->payload;
    char *loud = malloc(call->length + 1);
    if (loud == NULL) {
        belfry_answer_failed(call, "no memory");
        return;
    }
    for (size_t i = 0; i < call->length; i++) {
        loud[i] = (char)toupper(text[i]);
    }
    belfry_answer(call, loud, call->length);
    free(loud);
}

/* Sleeps for as many milliseconds as the payload says, unless the call is cancelled. */
static void sleep_ms(belfry_call *call, void *context) {
    (void)context;
    char text[16] = "";
    memcpy(text, call->payload, call->length < sizeof text - 1 ? call->length : sizeof text - 1);
    int64_t until = belfry_after_ms(atoll(text));
    while (belfry_after_ms(0) < until) {
        if (belfry_cancelled(call)) {
            belfry_answer_failed(call, "given up");
            return;
        }
        struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    belfry_answer(call, "slept", 5);
}

static void pid(belfry_call *call, void *context) {
    (void)context;
    char text[16];
    belfry_answer(call, text, (size_t)snprintf(text, sizeof text, "%d", getpid()));
}

static void fail(belfry_call *call, void *context) {
    (void)context;
    belfry_answer_failed(call, "as it should");
}

static void crash(belfry_call *call, void *context) {
    (void)call;
    (void)context;
    fprintf(stderr, "about to crash\n");
    raise(SIGSEGV);
}

int main(int argc, char **argv) {
    belfry_worker worker = {0};
    bool ready = belfry_on(&worker, "echo", echo, NULL) && belfry_on(&worker, "upper", upper, NULL)
        && belfry_on(&worker, "sleep", sleep_ms, NULL) && belfry_on(&worker, "pid", pid, NULL)
        && belfry_on(&worker, "fail", fail, NULL) && belfry_on(&worker, "crash", crash, NULL);
    return ready ? belfry_run(&worker, argc, argv) : 1;
}
