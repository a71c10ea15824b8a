// Prints what a process was given by the one that started it, as its own /proc has it.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static int by_number(const struct dirent **a, const struct dirent **b) {
  return atoi((*a)->d_name) - atoi((*b)->d_name);
}

static int is_number(const struct dirent *entry) { return entry->d_name[0] != '.'; }

int main(int argc, char **argv) {
  struct dirent **entries;
  int count = scandir("/proc/self/fd", &entries, is_number, by_number);
  for (int i = 0; i < count; i++) {
    char path[300], target[4096];
    snprintf(path, sizeof path, "/proc/self/fd/%s", entries[i]->d_name);
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length >= 0) { // the one that scandir had open is closed by now
      target[length] = 0;
      printf("fd %s %s\n", entries[i]->d_name, target);
    }
  }
  FILE *status = fopen("/proc/self/status", "r");
  char line[4096];
  while (fgets(line, sizeof line, status)) {
    if (strncmp(line, "Sig", 3) == 0 || strncmp(line, "ShdPnd", 6) == 0) {
      fputs(line, stdout);
    }
  }
  fclose(status);
  printf("pid %d\n", getpid());
  printf("group %d\n", getpgrp());
  printf("directory %s\n", getcwd(line, sizeof line));
  for (int i = 1; i < argc; i++) {
    printf("argument %s\n", argv[i]);
  }
  for (char **variable = environ; *variable; variable++) {
    printf("variable %s\n", *variable);
  }
  puts("end");
  return 0;
}
