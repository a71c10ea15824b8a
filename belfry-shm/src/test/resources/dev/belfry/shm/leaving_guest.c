/*
 * A guest that walks in and leaves while another of its threads receives a message of 1000 bytes. It
 * says "copying" when that thread has begun to copy it, and "leaving" when it leaves; goes on with
 * the copy when it reads a line; and says "left" in the end.
 */
#define _GNU_SOURCE
#include <string.h>
#undef memcpy
static void *held_memcpy(void *to, const void *from, size_t length);
#define memcpy held_memcpy
#include "belfry_guest.h"
#undef memcpy

static belfry_guest guest;
static sem_t copying, go_on;

static void *held_memcpy(void *to, const void *from, size_t length) {
    if (length == 1000) {
        sem_post(&copying);
        sem_wait(&go_on);
    }
    return memmove(to, from, length);
}

static void *receive(void *unused) {
    belfry_message message;
    belfry_receive(&guest, &message, BELFRY_FOREVER);
    return unused;
}

static void *leave(void *unused) {
    belfry_detach(&guest, belfry_after_ms(1000));
    return unused;
}

int main(int argc, char **argv) {
    setvbuf(stdout, NULL, _IOLBF, 0);
    sem_init(&copying, 0, 0);
    sem_init(&go_on, 0, 0);
    pthread_t receiver, leaver;
    if (belfry_attach(&guest, argc, argv) != BELFRY_OK
        || pthread_create(&receiver, NULL, receive, NULL) != 0) {
        puts(belfry_error(&guest));
        return 1;
    }
    sem_wait(&copying);
    puts("copying");
    if (pthread_create(&leaver, NULL, leave, NULL) != 0) {
        return 1;
    }
    while (belfry_end(&guest) == BELFRY_OK) {
        sched_yield();
    }
    puts("leaving");
    getchar();
    sem_post(&go_on);
    pthread_join(receiver, NULL);
    pthread_join(leaver, NULL);
    puts("left");
    belfry_close(&guest);
    return 0;
}
