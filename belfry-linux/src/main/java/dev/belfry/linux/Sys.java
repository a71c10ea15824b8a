package dev.belfry.linux;

import java.lang.foreign.MemorySegment;

/**
 * The system calls, one method each, with the kernel's convention: a result of zero or more, or
 * {@code -errno}. No method throws, allocates, retries or interprets; the facilities built on it
 * do.
 *
 * <p>Tests put a decorator between this and the facilities, to count calls or make them fail.
 */
public interface Sys {

  /** The calls for use by any thread; errno is kept per thread. */
  static Sys forAnyThread() {
    return NativeCalls.SHARED;
  }

  /**
   * The calls for use by one thread at a time, such as a loop's. Virtual threads mounted on that
   * thread may use them too, because a system call never unmounts them.
   */
  static Sys forOneThread() {
    return NativeCalls.confined();
  }

  // Descriptors: open(2), openat2(2), close(2), dup(2), fcntl(2), flock(2), ioctl(2), pipe(2),
  // poll(2).

  @LibC("close")
  int close(int fd);

  @LibC(value = "openat", variadicFrom = 3)
  int openat(int dirFd, MemorySegment path, int flags, int mode);

  @Syscall(437)
  int openat2(int dirFd, MemorySegment path, MemorySegment openHow, long size);

  @LibC("fstat")
  int fstat(int fd, MemorySegment stat);

  @LibC(value = "fcntl", variadicFrom = 2)
  int fcntl(int fd, int command, long argument);

  @LibC(value = "fcntl", variadicFrom = 2)
  int fcntl(int fd, int command, MemorySegment argument);

  @LibC("flock")
  int flock(int fd, int operation);

  @LibC(value = "ioctl", variadicFrom = 2)
  int ioctl(int fd, long request, MemorySegment argument);

  @LibC("dup3")
  int dup3(int oldFd, int newFd, int flags);

  @LibC("pipe2")
  int pipe2(MemorySegment fds, int flags);

  @LibC("poll")
  int poll(MemorySegment pollFds, long count, int timeoutMillis);

  @LibC("ppoll")
  int ppoll(MemorySegment pollFds, long count, MemorySegment timeout, MemorySegment sigset);

  // Reading and writing: read(2), readv(2), pread(2).

  @LibC("read")
  long read(int fd, MemorySegment buffer, long length);

  @LibC("write")
  long write(int fd, MemorySegment buffer, long length);

  @LibC("readv")
  long readv(int fd, MemorySegment iovecs, int count);

  @LibC("writev")
  long writev(int fd, MemorySegment iovecs, int count);

  @LibC("pread")
  long pread(int fd, MemorySegment buffer, long length, long offset);

  @LibC("pwrite")
  long pwrite(int fd, MemorySegment buffer, long length, long offset);

  // Sockets: socket(7), unix(7), send(2), recv(2).

  @LibC("socket")
  int socket(int domain, int type, int protocol);

  @LibC("socketpair")
  int socketpair(int domain, int type, int protocol, MemorySegment fds);

  @LibC("bind")
  int bind(int fd, MemorySegment address, int length);

  @LibC("listen")
  int listen(int fd, int backlog);

  @LibC("accept4")
  int accept4(int fd, MemorySegment address, MemorySegment length, int flags);

  @LibC("connect")
  int connect(int fd, MemorySegment address, int length);

  @LibC("shutdown")
  int shutdown(int fd, int how);

  @LibC("getsockname")
  int getsockname(int fd, MemorySegment address, MemorySegment length);

  @LibC("getpeername")
  int getpeername(int fd, MemorySegment address, MemorySegment length);

  @LibC("getsockopt")
  int getsockopt(int fd, int level, int name, MemorySegment value, MemorySegment length);

  @LibC("setsockopt")
  int setsockopt(int fd, int level, int name, MemorySegment value, int length);

  @LibC("send")
  long send(int fd, MemorySegment buffer, long length, int flags);

  @LibC("recv")
  long recv(int fd, MemorySegment buffer, long length, int flags);

  @LibC("sendmsg")
  long sendmsg(int fd, MemorySegment message, int flags);

  @LibC("recvmsg")
  long recvmsg(int fd, MemorySegment message, int flags);

  // Events: epoll(7), eventfd(2), timerfd_create(2), signalfd(2).

  @LibC("epoll_create1")
  int epollCreate1(int flags);

  @LibC("epoll_ctl")
  int epollCtl(int epollFd, int operation, int fd, MemorySegment event);

  @LibC("epoll_wait")
  int epollWait(int epollFd, MemorySegment events, int count, int timeoutMillis);

  @Syscall(441)
  int epollPwait2(
      int epollFd,
      MemorySegment events,
      int count,
      MemorySegment timeout,
      MemorySegment sigset,
      long sigsetSize);

  @LibC("eventfd")
  int eventfd(int initial, int flags);

  @LibC("timerfd_create")
  int timerfdCreate(int clock, int flags);

  @LibC("timerfd_settime")
  int timerfdSettime(int fd, int flags, MemorySegment newValue, MemorySegment oldValue);

  @LibC("signalfd")
  int signalfd(int fd, MemorySegment sigset, int flags);

  // Signals: kill(2), sigqueue(3), pthread_sigmask(3), signal(2).

  @LibC("kill")
  int kill(int pid, int signal);

  @LibC("sigqueue")
  int sigqueue(int pid, int signal, long value);

  @LibC(value = "pthread_sigmask", returnsError = true)
  int pthreadSigmask(int how, MemorySegment newSet, MemorySegment oldSet);

  @LibC("sigaction")
  int sigaction(int signal, MemorySegment newAction, MemorySegment oldAction);

  // Waiting on memory: futex(2), set_robust_list(2), pthread_mutexattr_setrobust(3).

  @Syscall(value = 202, aarch64 = 98)
  int futex(
      MemorySegment word,
      int operation,
      int value,
      MemorySegment timeout,
      MemorySegment word2,
      int value3);

  /** For waking only: a caller can do nothing about a failure, so it is just -1. */
  @Syscall(value = 202, aarch64 = 98, errno = false)
  int futex(MemorySegment word, int operation, int count);

  @Syscall(449)
  int futexWaitv(MemorySegment waiters, int count, int flags, MemorySegment timeout, int clock);

  @Syscall(value = 273, aarch64 = 99)
  int setRobustList(MemorySegment head, long size);

  @LibC(value = "pthread_mutexattr_init", returnsError = true)
  int pthreadMutexattrInit(MemorySegment attributes);

  @LibC(value = "pthread_mutexattr_setpshared", returnsError = true)
  int pthreadMutexattrSetpshared(MemorySegment attributes, int shared);

  @LibC(value = "pthread_mutexattr_setrobust", returnsError = true)
  int pthreadMutexattrSetrobust(MemorySegment attributes, int robust);

  @LibC(value = "pthread_mutexattr_destroy", returnsError = true)
  int pthreadMutexattrDestroy(MemorySegment attributes);

  @LibC(value = "pthread_mutex_init", returnsError = true)
  int pthreadMutexInit(MemorySegment mutex, MemorySegment attributes);

  @LibC(value = "pthread_mutex_lock", returnsError = true)
  int pthreadMutexLock(MemorySegment mutex);

  @LibC(value = "pthread_mutex_trylock", returnsError = true)
  int pthreadMutexTrylock(MemorySegment mutex);

  @LibC(value = "pthread_mutex_consistent", returnsError = true)
  int pthreadMutexConsistent(MemorySegment mutex);

  @LibC(value = "pthread_mutex_unlock", returnsError = true)
  int pthreadMutexUnlock(MemorySegment mutex);

  // Memory: memfd_create(2), mmap(2), ftruncate(2), fallocate(2).

  @LibC("memfd_create")
  int memfdCreate(MemorySegment name, int flags);

  @LibC("mmap")
  long mmap(long hint, long length, int protection, int flags, int fd, long offset);

  @LibC("munmap")
  int munmap(long address, long length);

  @LibC("ftruncate")
  int ftruncate(int fd, long length);

  @LibC("fallocate")
  int fallocate(int fd, int mode, long offset, long length);

  // Processes: pidfd_open(2), waitid(2), posix_spawn(3), execve(2), prctl(2).

  @Syscall(434)
  int pidfdOpen(int pid, int flags);

  @Syscall(424)
  int pidfdSendSignal(int pidFd, int signal, MemorySegment info, int flags);

  @LibC("waitid")
  int waitid(int idType, int id, MemorySegment info, int options);

  @LibC(value = "posix_spawnp", returnsError = true)
  int posixSpawnp(
      MemorySegment pid,
      MemorySegment file,
      MemorySegment actions,
      MemorySegment attributes,
      MemorySegment argv,
      MemorySegment envp);

  @LibC(value = "posix_spawn_file_actions_init", returnsError = true)
  int posixSpawnFileActionsInit(MemorySegment actions);

  @LibC(value = "posix_spawn_file_actions_destroy", returnsError = true)
  int posixSpawnFileActionsDestroy(MemorySegment actions);

  @LibC(value = "posix_spawn_file_actions_adddup2", returnsError = true)
  int posixSpawnFileActionsAdddup2(MemorySegment actions, int fd, int newFd);

  @LibC(value = "posix_spawn_file_actions_addclosefrom_np", returnsError = true)
  int posixSpawnFileActionsAddclosefrom(MemorySegment actions, int fd);

  @LibC(value = "posix_spawn_file_actions_addchdir_np", returnsError = true)
  int posixSpawnFileActionsAddchdir(MemorySegment actions, MemorySegment path);

  @LibC(value = "posix_spawnattr_init", returnsError = true)
  int posixSpawnattrInit(MemorySegment attributes);

  @LibC(value = "posix_spawnattr_destroy", returnsError = true)
  int posixSpawnattrDestroy(MemorySegment attributes);

  @LibC(value = "posix_spawnattr_setflags", returnsError = true)
  int posixSpawnattrSetflags(MemorySegment attributes, short flags);

  @LibC(value = "posix_spawnattr_setsigmask", returnsError = true)
  int posixSpawnattrSetsigmask(MemorySegment attributes, MemorySegment sigset);

  @LibC(value = "posix_spawnattr_setsigdefault", returnsError = true)
  int posixSpawnattrSetsigdefault(MemorySegment attributes, MemorySegment sigset);

  @LibC(value = "posix_spawnattr_setpgroup", returnsError = true)
  int posixSpawnattrSetpgroup(MemorySegment attributes, int group);

  @LibC("execve")
  int execve(MemorySegment path, MemorySegment argv, MemorySegment envp);

  @LibC(value = "prctl", variadicFrom = 1)
  int prctl(int option, long argument2, long argument3, long argument4, long argument5);

  @LibC("getppid")
  int getppid();

  @LibC("gettid")
  int gettid();

  @LibC("sched_yield")
  int schedYield();

  @LibC("sched_setaffinity")
  int schedSetaffinity(int tid, long size, MemorySegment mask);

  @LibC("sched_getaffinity")
  int schedGetaffinity(int tid, long size, MemorySegment mask);

  @LibC("getrlimit")
  int getrlimit(int resource, MemorySegment limit);

  @LibC("setrlimit")
  int setrlimit(int resource, MemorySegment limit);

  @LibC("clock_gettime")
  int clockGettime(int clock, MemorySegment timespec);

  // io_uring(7).

  @Syscall(425)
  int ioUringSetup(int entries, MemorySegment params);

  @Syscall(426)
  int ioUringEnter(
      int ringFd, int submitted, int atLeast, int flags, MemorySegment argument, long size);

  @Syscall(427)
  int ioUringRegister(int ringFd, int operation, MemorySegment argument, int count);
}
