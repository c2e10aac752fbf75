/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "app/bench/apart.h"

#include <glib.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static double inherited_mb; /* by the child of this process */

static double
resident_mb(void) {
  unsigned long n_all = 0, n_resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%lu %lu", &n_all, &n_resident) != 2) n_resident = 0;
  if (file) fclose(file);
  return (double)n_resident * (double)sysconf(_SC_PAGESIZE) / (1 << 20);
}

double
td_bench_apart_mb(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  return (double)usage.ru_maxrss / 1024 - inherited_mb;
}

/* Does not run what a process does at its end: that is for the parent. */
static void
answer(int out, char *(*work)(void *data), void *data) {
  FILE *file = fdopen(out, "w");
  inherited_mb = resident_mb();
  char *text = work(data);
  if (file && text) fputs(text, file);
  _exit(file && text && fclose(file) == 0 ? 0 : 1);
}

static char *
read_all(int in) {
  GString *text = g_string_new(NULL);
  char part[256];
  for (ssize_t n; (n = read(in, part, sizeof part)) > 0;)
    g_string_append_len(text, part, n);
  close(in);
  return g_string_free(text, FALSE);
}

char *
td_bench_apart(char *(*work)(void *data), void *data) {
  int ends[2], status = 1;
  if (pipe(ends)) return NULL;
  fflush(stdout);
  malloc_trim(0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    answer(ends[1], work, data);
  }
  close(ends[1]);
  char *text = read_all(ends[0]);
  if (child > 0 && waitpid(child, &status, 0) == child && status == 0) return text;
  g_free(text);
  return NULL;
}
