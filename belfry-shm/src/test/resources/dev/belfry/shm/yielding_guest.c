/*
 * A guest that waits for a message that never comes, and says whether it yields its processor
 * while it spins.
 *
 *     yielding_guest --hub-path=PATH
 */
#include "belfry_guest.h"

static int yields;

/* In place of the C library's. */
int sched_yield(void) {
    yields++;
    return 0;
}

int main(int argc, char **argv) {
    static belfry_guest guest;
    belfry_message message;
    if (belfry_attach(&guest, argc, argv) != BELFRY_OK) {
        puts(belfry_error(&guest));
        return 1;
    }
    /* More than once: a guest that others keep from running has spun long enough after one look. */
    for (int i = 0; i < 100 && yields == 0; i++) {
        belfry_receive(&guest, &message, belfry_after_ms(10));
    }
    puts(yields > 0 ? "it yields" : "it does not yield");
    belfry_close(&guest);
    return 0;
}
