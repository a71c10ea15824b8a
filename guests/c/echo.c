/*
 * A guest that sends back whatever it receives, until its host leaves.
 *
 *     echo --hub-path=PATH [--peer-id=N --doorbell-fd=N]
 */
#include "belfry_guest.h"

static void say(const char *program, belfry_result result, const belfry_guest *guest) {
    const char *details = belfry_error(guest); /* often there are none */
    fprintf(stderr, "%s: %s%s%s\n", program, belfry_text(result), *details ? ": " : "", details);
}

int main(int argc, char **argv) {
    belfry_guest guest;
    belfry_message message;
    belfry_result result = belfry_attach(&guest, argc, argv);
    if (result != BELFRY_OK) {
        say(argv[0], result, &guest);
        return 1;
    }
    while ((result = belfry_receive(&guest, &message, BELFRY_FOREVER)) == BELFRY_OK) {
        result = belfry_send(&guest, &message, BELFRY_FOREVER);
        if (result != BELFRY_OK) {
            break;
        }
    }
    if (result != BELFRY_HOST_GOODBYE) {
        say(argv[0], result, &guest);
    }
    belfry_close(&guest);
    return result == BELFRY_HOST_GOODBYE ? 0 : 1;
}
