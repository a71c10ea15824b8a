// The other process: shares descriptor 3, one page. What it does is its first argument.
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv) {
  void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0);
  if (page == MAP_FAILED || argc != 2) {
    return 1;
  }
  alarm(60); // no test takes that long, and nobody may wait for this process for ever
  setvbuf(stdout, 0, _IOLBF, 0);
  if (strcmp(argv[1], "lock") == 0) { // takes the mutex in the page and keeps it
    printf("locked %d by %d\n", pthread_mutex_lock(page), getpid());
    pause();
  } else if (strcmp(argv[1], "lock-and-exit") == 0) {
    printf("locked %d by %d\n", pthread_mutex_lock(page), getpid());
  } else if (strcmp(argv[1], "sleep") == 0) { // on the word, while it is 5
    printf("woken %ld\n", syscall(SYS_futex, page, FUTEX_WAIT, 5, 0, 0, 0));
  } else if (strcmp(argv[1], "wake") == 0) { // whoever sleeps on the word, until there is somebody
    long woken = 0;
    while (woken == 0) {
      woken = syscall(SYS_futex, page, FUTEX_WAKE, 1, 0, 0, 0);
    }
    printf("woke %ld\n", woken);
  }
  return 0;
}
