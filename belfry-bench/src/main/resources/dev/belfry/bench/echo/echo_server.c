/*
 * The yardstick: an echo server on one thread with as little as possible between it and the kernel.
 * Edge-triggered epoll; each connection is registered once; a short read means that nothing is left.
 * Says READY and its port; ends when its standard input ends.
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
#include <unistd.h>

enum { BUFFER = 4096, BATCH = 256, MAX_FDS = 4096 };

/* What could not be written yet; rare, so it is allocated when needed. */
struct rest {
  size_t from, to;
  char bytes[BUFFER];
};

static struct rest *rests[MAX_FDS];
static char buffer[BUFFER];
static int epoll_fd;

static void die(const char *what) {
  perror(what);
  exit(1);
}

static void watch(int fd, uint32_t events) {
  struct epoll_event event = {.events = events, .data.fd = fd};
  if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0) die("epoll_ctl");
}

static void drop(int fd) {
  free(rests[fd]);
  rests[fd] = NULL;
  epoll_ctl(epoll_fd, EPOLL_CTL_DEL, fd, NULL);
  close(fd);
}

/* Writes bytes and keeps what does not fit; 0 if the connection is to be read on. */
static int echo(int fd, size_t count) {
  ssize_t sent = send(fd, buffer, count, MSG_NOSIGNAL);
  if (sent == (ssize_t)count) return 0;
  if (sent < 0 && errno != EAGAIN) return -1;
  if (sent < 0) sent = 0;
  struct rest *rest = malloc(sizeof *rest);
  if (!rest) die("malloc");
  rest->from = 0;
  rest->to = count - sent;
  memcpy(rest->bytes, buffer + sent, rest->to);
  rests[fd] = rest;
  return 1;
}

/* Writes what was kept; 0 if nothing is kept any more. */
static int flush_rest(int fd) {
  struct rest *rest = rests[fd];
  while (rest->from < rest->to) {
    ssize_t sent = send(fd, rest->bytes + rest->from, rest->to - rest->from, MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN ? 1 : -1;
    rest->from += sent;
  }
  free(rest);
  rests[fd] = NULL;
  return 0;
}

static void serve(int fd, uint32_t events) {
  if (rests[fd]) {
    int kept = flush_rest(fd);
    if (kept < 0) drop(fd);
    if (kept) return;
  }
  for (;;) {
    ssize_t got = recv(fd, buffer, BUFFER, 0);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      drop(fd);
      return;
    }
    int kept = echo(fd, got);
    if (kept < 0) drop(fd);
    if (kept) return;
    if (got < BUFFER && !(events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))) return;
  }
}

static void accept_all(int listener) {
  for (;;) {
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (fd >= MAX_FDS) {
      close(fd);
      continue;
    }
    int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    watch(fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET);
  }
}

int main(void) {
  epoll_fd = epoll_create1(EPOLL_CLOEXEC);
  int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof address;
  if (bind(listener, (struct sockaddr *)&address, length) < 0) die("bind");
  if (listen(listener, 1024) < 0) die("listen");
  if (getsockname(listener, (struct sockaddr *)&address, &length) < 0) die("getsockname");
  watch(listener, EPOLLIN | EPOLLET);
  watch(STDIN_FILENO, EPOLLIN);
  printf("READY %d\n", ntohs(address.sin_port));
  fflush(stdout);

  struct epoll_event batch[BATCH];
  for (;;) {
    int count = epoll_wait(epoll_fd, batch, BATCH, -1);
    if (count < 0 && errno != EINTR) die("epoll_wait");
    for (int i = 0; i < count; i++) {
      int fd = batch[i].data.fd;
      if (fd == listener) {
        accept_all(listener);
      } else if (fd == STDIN_FILENO) {
        if (read(STDIN_FILENO, buffer, BUFFER) <= 0) return 0;
      } else {
        serve(fd, batch[i].events);
      }
    }
  }
}
