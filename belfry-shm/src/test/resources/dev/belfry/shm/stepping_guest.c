/*
 * A guest that takes one step of its life for each line it reads, and says one line when it has
 * taken it: the steps of the SteppingGuest in Java, in C, and these:
 *
 *   listen      says "listening"; then waits as an event loop does        REQUEST ID BYTES
 *   channel N   makes channel N active, with its credit                  active
 *   ring        rings the host                                           rung
 *   error       says what the library says                               its words
 *   rubbish     says "reading rubbish"; then receives to the end          over END
 *   load        says "loading"; then sends without end on one thread     wrong ...
 *               and checks what it receives on another
 *
 * Byte i of a payload is id * 31 + i * 7. Under load message n has the id n and n * 37 % 1000 bytes.
 */
#include "belfry_guest.h"

static belfry_guest guest;
static bool is_attached;
static uint8_t payload[1 << 20];

static const char *const KINDS[] = {
    "?", "REQUEST", "RESPONSE", "CANCEL", "DATA", "CLOSE", "RESET", "GOODBYE"};

static belfry_message request(uint32_t id, uint32_t length) {
    for (uint32_t i = 0; i < length; i++) {
        payload[i] = (uint8_t)(id * 31 + i * 7);
    }
    return (belfry_message){BELFRY_REQUEST, id, 0, payload, length};
}

static const char *sent(belfry_result result) {
    switch (result) {
    case BELFRY_OK: return "SENT";
    case BELFRY_RING_FULL: return "RING_FULL";
    case BELFRY_NO_SLOT: return "NO_SLOT";
    case BELFRY_TOO_LARGE: return "TOO_LARGE";
    case BELFRY_TIMEOUT: return "TIMEOUT";
    default: return "OVER";
    }
}

static const char *over(belfry_result result) {
    switch (result) {
    case BELFRY_DETACHED: return "over detached";
    case BELFRY_HOST_GOODBYE: return "over host_goodbye";
    case BELFRY_HOST_GONE: return "over host_gone";
    case BELFRY_EVICTED: return "over evicted";
    case BELFRY_VIOLATION: return "over violation";
    default: return belfry_text(result);
    }
}

static void receive(void) {
    belfry_message message;
    belfry_result result = belfry_receive(&guest, &message, belfry_after_ms(60000));
    if (result == BELFRY_OK) {
        printf("%s %u %u\n", KINDS[message.kind], message.id, message.length);
    } else {
        puts(result == BELFRY_TIMEOUT ? "timeout" : over(result));
    }
}

/* As an event loop does: asleep at the bell only, and all is taken before it listens again. */
static void listen_at_bell(void) {
    belfry_result result = belfry_listen(&guest);
    while (result == BELFRY_EMPTY) {
        struct pollfd bell = {.fd = belfry_bell_fd(&guest), .events = POLLIN};
        poll(&bell, 1, -1);
        result = belfry_wait_bell(&guest, BELFRY_NOW);
        result = result == BELFRY_OK ? belfry_listen(&guest) : result;
    }
    if (result == BELFRY_OK) {
        receive();
    } else {
        puts(over(result));
    }
}

static void echo(void) {
    belfry_message message;
    belfry_result result = BELFRY_OK;
    while (result == BELFRY_OK) {
        result = belfry_receive(&guest, &message, BELFRY_FOREVER);
        if (result == BELFRY_OK) {
            result = belfry_send(&guest, &message, BELFRY_FOREVER);
        }
    }
    puts(over(result));
}

static void read_rubbish(void) {
    belfry_message message;
    belfry_result result = BELFRY_OK;
    uint32_t sum = 0;
    while (result == BELFRY_OK) {
        result = belfry_receive(&guest, &message, BELFRY_FOREVER);
        for (uint32_t i = 0; result == BELFRY_OK && i < message.length; i++) {
            sum += ((const uint8_t *)message.bytes)[i];
        }
        if (result == BELFRY_OK) {
            message = request(sum, message.length);
            belfry_send(&guest, &message, BELFRY_NOW);
        }
    }
    puts(over(result));
}

static void write_slot(uint32_t length) {
    uint32_t slot, generation;
    if (!belfry__allocate(&guest, &slot, &generation)) {
        puts("no slot");
        return;
    }
    memset(belfry__slot(&guest, guest.peer, slot) + BELFRY__GENERATION_BYTES, 0, length);
    puts("written");
}

/* A head that cannot be; in the padded placement a descriptor of the right lap and no kind. */
static void forge(void) {
    atomic_store(belfry__descriptor(&guest, &guest.out, guest.head),
        (uint64_t)belfry__lap_mark(&guest, guest.head) << 16 | 0x63);
    guest.head += guest.layout.ring_size + 4;
    belfry_publish(&guest);
    puts("forged");
}

static void leave(void) {
    atomic_store(guest.state, belfry__left(&guest));
    puts("left");
}

static void hold(void) {
    int bell = guest.bell;
    fcntl(bell, F_SETFD, 0);
    if (fork() == 0) {
        execl("/bin/sleep", "sleep", "300", (char *)NULL);
        _exit(127);
    }
    fcntl(bell, F_SETFD, FD_CLOEXEC);
    puts("held");
}

static void activate(uint32_t channel) {
    uint64_t bytes = guest.layout.channel_table_bytes / guest.layout.max_channels;
    uint8_t *entry = belfry__area(&guest) + guest.layout.channels_in_area + channel * bytes;
    atomic_store((_Atomic uint32_t *)(entry + (guest.layout.padded ? 64 : 4)), 1000);
    atomic_store((_Atomic uint32_t *)entry, 1);
    puts("active");
}

static void *send_without_end(void *nothing) {
    for (uint32_t id = 0;; id++) {
        belfry_message message = request(id, id * 37 % 1000);
        if (belfry_send(&guest, &message, BELFRY_FOREVER) != BELFRY_OK) {
            return nothing;
        }
    }
}

static void load(void) {
    pthread_t sender;
    pthread_create(&sender, NULL, send_without_end, NULL);
    belfry_message message;
    belfry_result result = belfry_receive(&guest, &message, BELFRY_FOREVER);
    for (uint32_t id = 0; result == BELFRY_OK; id++) {
        bool right = message.id == id && message.length == id * 37 % 1000;
        for (uint32_t i = 0; right && i < message.length; i++) {
            right = ((const uint8_t *)message.bytes)[i] == (uint8_t)(id * 31 + i * 7);
        }
        if (!right) {
            printf("wrong: %u with %u bytes is not message %u\n", message.id, message.length, id);
            exit(9);
        }
        result = belfry_receive(&guest, &message, BELFRY_FOREVER);
    }
    pthread_join(sender, NULL);
    puts(over(result));
}

static void attach(int argc, char **argv) {
    belfry_result result = belfry_attach(&guest, argc, argv);
    is_attached = result == BELFRY_OK;
    if (is_attached) {
        puts("attached");
    } else {
        printf("failed %s\n", belfry_error(&guest));
    }
}

static void step(const char *name, uint32_t first, uint32_t second) {
    belfry_message message;
    if (strcmp(name, "send") == 0) {
        message = request(first, second);
        puts(sent(belfry_send(&guest, &message, BELFRY_NOW)));
    } else if (strcmp(name, "block") == 0) {
        puts("blocking");
        message = request(first, second);
        puts(sent(belfry_send(&guest, &message, belfry_after_ms(60000))));
    } else if (strcmp(name, "stage") == 0) {
        message = request(first, second);
        puts(belfry_stage(&guest, &message) == BELFRY_OK ? "staged" : "not staged");
    } else if (strcmp(name, "publish") == 0) {
        belfry_publish(&guest);
        puts("published");
    } else if (strcmp(name, "write") == 0) {
        write_slot(first);
    } else if (strcmp(name, "receive") == 0) {
        receive();
    } else if (strcmp(name, "wait") == 0) {
        puts("waiting");
        receive();
    } else if (strcmp(name, "listen") == 0) {
        puts("listening");
        listen_at_bell();
    } else if (strcmp(name, "echo") == 0) {
        puts("echoing");
        echo();
    } else if (strcmp(name, "ring") == 0) {
        belfry_result result = belfry_ring(&guest);
        puts(result == BELFRY_OK ? "rung" : belfry_text(result));
    } else if (strcmp(name, "error") == 0) {
        puts(belfry_error(&guest));
    } else if (strcmp(name, "rubbish") == 0) {
        puts("reading rubbish");
        read_rubbish();
    } else if (strcmp(name, "load") == 0) {
        puts("loading");
        load();
    } else if (strcmp(name, "forge") == 0) {
        forge();
    } else if (strcmp(name, "goodbye") == 0) {
        leave();
    } else if (strcmp(name, "hold") == 0) {
        hold();
    } else if (strcmp(name, "channel") == 0) {
        activate(first);
    } else if (strcmp(name, "exec") == 0) {
        execl("/bin/sleep", "sleep", "300", (char *)NULL);
        puts("not executed");
    } else if (strcmp(name, "detach") == 0) {
        belfry_detach(&guest, belfry_after_ms(60000));
        puts("detached");
    } else {
        printf("unknown step %s\n", name);
    }
}

int main(int argc, char **argv) {
    char line[200], name[20];
    setvbuf(stdout, NULL, _IOLBF, 0);
    puts("started");
    while (fgets(line, sizeof line, stdin) != NULL) {
        uint32_t first = 0, second = 0;
        if (sscanf(line, "%19s %u %u", name, &first, &second) < 1) {
            continue;
        }
        if (strcmp(name, "exit") == 0) {
            return (int)first;
        } else if (strcmp(name, "attach") == 0) {
            attach(argc, argv);
        } else if (is_attached) {
            step(name, first, second);
        }
    }
    return 0;
}
