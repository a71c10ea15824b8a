/*
 * The load: so many connections, one message under way on each, the next when the answer is there.
 *
 *   echo_load PORT CONNECTIONS BYTES SETTLE_MS MEASURE_MS SERVER_PID
 *
 * Prints, for the measured time: messages, nanoseconds, processor time of the server's whole process
 * in nanoseconds, processor time of this process in nanoseconds. The processor time is user and
 * system time of all threads, the sum that /proc/PID/stat shows in ticks, read from the process's
 * clock, which has nanoseconds (clock_getcpuclockid(3)).
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 256, MAX_BYTES = 65536, LOOK_AT_CLOCK_EVERY = 32 };

struct connection {
  int fd;
  int received;
  unsigned sequence;
};

static char message[MAX_BYTES];
static char answer[MAX_BYTES];
static int bytes;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static long long clock_nanos(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) < 0) die("clock_gettime");
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void send_next(struct connection *c) {
  c->sequence++;
  c->received = 0;
  memcpy(message, &c->sequence, sizeof c->sequence);
  if (send(c->fd, message, bytes, MSG_NOSIGNAL) != bytes) die("send");
}

/* Takes what has come; 1 if the answer is complete. */
static int take(struct connection *c) {
  ssize_t got = recv(c->fd, answer + c->received, bytes - c->received, 0);
  if (got < 0 && errno == EAGAIN) return 0;
  if (got < 0) die("recv");
  if (got == 0) {
    fprintf(stderr, "the server has closed a connection\n");
    exit(1);
  }
  if (c->received == 0 && got < bytes) {
    /* In pieces: rare; only the length is checked then, since all connections share the room. */
    c->received = got;
    return 0;
  }
  if (c->received == 0 && memcmp(answer, &c->sequence, sizeof c->sequence) != 0) {
    fprintf(stderr, "the answer is not the message\n");
    exit(1);
  }
  c->received += got;
  return c->received == bytes;
}

int main(int argc, char **argv) {
  if (argc != 7) {
    fprintf(stderr, "usage: echo_load PORT CONNECTIONS BYTES SETTLE_MS MEASURE_MS SERVER_PID\n");
    return 2;
  }
  int port = atoi(argv[1]);
  int count = atoi(argv[2]);
  bytes = atoi(argv[3]);
  long long settle = atoll(argv[4]) * 1000000LL;
  long long measure = atoll(argv[5]) * 1000000LL;
  if (bytes < (int)sizeof(unsigned) || bytes > MAX_BYTES) die("BYTES");
  clockid_t server_clock;
  if ((errno = clock_getcpuclockid(atoi(argv[6]), &server_clock)) != 0) die("SERVER_PID");

  memset(message, 'x', sizeof message);
  int epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  struct connection *connections = calloc(count, sizeof *connections);
  if (!connections) die("calloc");
  struct sockaddr_in address = {.sin_family = AF_INET,
                                .sin_port = htons(port),
                                .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  for (int i = 0; i < count; i++) {
    struct connection *c = &connections[i];
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(c->fd, (struct sockaddr *)&address, sizeof address) < 0) die("connect");
    int on = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) < 0) die("epoll_ctl");
  }
  for (int i = 0; i < count; i++) send_next(&connections[i]);

  struct epoll_event batch[BATCH];
  long long begin = clock_nanos(CLOCK_MONOTONIC) + settle;
  long long messages = 0, began = 0, server = 0, own = 0;
  unsigned turn = 0;
  /* At the end the answers under way are awaited, so that no server sees a reset. */
  int stopping = 0, under_way = 0;
  for (;;) {
    /* The clock is looked at often enough for a slow server and seldom enough not to count. */
    if (!stopping && (count >= LOOK_AT_CLOCK_EVERY || ++turn % LOOK_AT_CLOCK_EVERY == 0)) {
      long long now = clock_nanos(CLOCK_MONOTONIC);
      if (!began && now >= begin) {
        messages = 0;
        server = clock_nanos(server_clock);
        own = clock_nanos(CLOCK_PROCESS_CPUTIME_ID);
        began = clock_nanos(CLOCK_MONOTONIC);
      } else if (began && now - began >= measure) {
        server = clock_nanos(server_clock) - server;
        own = clock_nanos(CLOCK_PROCESS_CPUTIME_ID) - own;
        printf("%lld %lld %lld %lld\n", messages, now - began, server, own);
        stopping = 1;
        under_way = count;
      }
    }
    int ready = epoll_wait(epoll_fd, batch, BATCH, 10000);
    if (ready == 0) {
      fprintf(stderr, "no answer for ten seconds\n");
      return 1;
    }
    if (ready < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < ready; i++) {
      struct connection *c = batch[i].data.ptr;
      if (take(c)) {
        messages++;
        if (!stopping) {
          send_next(c);
        } else if (--under_way == 0) {
          return 0;
        }
      }
    }
  }
}
