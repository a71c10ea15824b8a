/*
 * Runs the vectors of the protocol through the C side: vectors FILE. Prints how many there were;
 * says what is wrong and exits with 1 if something is.
 */
#include "belfry_worker.h"

static int line_number, run, wrong;

static void check(bool right, const char *what) {
    run++;
    if (!right) {
        wrong++;
        printf("line %d: %s\n", line_number, what);
    }
}

static size_t parse_hex(const char *text, uint8_t *bytes) {
    size_t count = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (uint8_t)value;
    }
    return count;
}

static void check_hello(const uint8_t *bytes, size_t length, char *names) {
    belfry_worker worker = {0};
    for (char *name = strtok(names, " "); name != NULL; name = strtok(NULL, " ")) {
        belfry_on(&worker, name, NULL, NULL);
    }
    uint8_t made[64];
    size_t size = belfry__hello(&worker, made, sizeof made);
    check(size == length && memcmp(made, bytes, length) == 0, "another first message");
    check(length == 1 || belfry__hello(&worker, made, length - 1) == 0, "no room, and not said");
    free(worker.methods);
}

static void check_request(const uint8_t *bytes, size_t length, const char *meaning) {
    unsigned long long millis, channel, size;
    sscanf(meaning, "%llu %llu %llu", &millis, &channel, &size);
    belfry__request request;
    check(belfry__parse_request(bytes, (uint32_t)length, &request)
            && request.time_left_ms == millis && request.channel == channel
            && request.length == size,
        "not understood as a call");
}

static void check_answer(const uint8_t *bytes, const char *meaning) {
    unsigned long long channel, size;
    sscanf(meaning, "%llu %llu", &channel, &size);
    uint8_t made[BELFRY__ANNOUNCEMENT];
    belfry__announce(made, (uint32_t)channel, size);
    check(memcmp(made, bytes, sizeof made) == 0, "another announcement");
}

static void check_status(const uint8_t *bytes, const char *meaning) {
    static const char *const names[] = {"done", "failed", "unknown", "cancelled", "too-long"};
    static const uint64_t values[] = {BELFRY__DONE, BELFRY__FAILED, BELFRY__UNKNOWN_METHOD,
        BELFRY__CANCELLED, BELFRY__TOO_LONG};
    char chunks[16], name[16];
    sscanf(meaning, "%15s %15s", chunks, name);
    uint64_t flag = strcmp(chunks, "chunks") == 0 ? BELFRY__ANSWER_IN_CHUNKS : 0;
    bool right = false;
    for (int i = 0; i < 5; i++) {
        right |= strcmp(name, names[i]) == 0 && belfry__u64(bytes, 0) == (values[i] | flag);
    }
    check(right, "another status");
}

static void check_line(char *line) {
    char word[16];
    char hex[128];
    uint8_t bytes[64] = {0};
    int meaning = 0;
    if (sscanf(line, "%15s %127s %n", word, hex, &meaning) < 2 || word[0] == '#') {
        return;
    }
    char *rest = line + meaning;
    size_t length = parse_hex(hex, bytes);
    belfry__request request;
    if (strcmp(word, "method") == 0) {
        check(belfry__method_id(rest, strlen(rest)) == belfry__u64(bytes, 0), "another number");
    } else if (strcmp(word, "hello") == 0) {
        check_hello(bytes, length, rest);
    } else if (strcmp(word, "request") == 0) {
        check_request(bytes, length, rest);
    } else if (strcmp(word, "no-request") == 0) {
        check(!belfry__parse_request(bytes, (uint32_t)length, &request), "taken for a call");
    } else if (strcmp(word, "answer") == 0) {
        check_answer(bytes, rest);
    } else if (strcmp(word, "status") == 0) {
        check_status(bytes, rest);
    }
}

int main(int argc, char **argv) {
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    if (file == NULL) {
        printf("vectors FILE\n");
        return 2;
    }
    char line[512];
    while (fgets(line, sizeof line, file) != NULL) {
        line_number++;
        line[strcspn(line, "\n")] = '\0';
        check_line(line);
    }
    fclose(file);
    printf("%d checks, %d wrong\n", run, wrong);
    return wrong == 0 ? 0 : 1;
}
