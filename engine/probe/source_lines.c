/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/source_lines.h"

#include "engine/base/alloc.h"
#include "engine/base/hash.h"
#include "engine/base/number_map.h"
#include "engine/events/emit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINES_MAX 10000u
#define TEXT_MAX 200     /* bytes of a line that are kept */
#define ANCESTORS_MAX 16 /* a program forks from one that runs the same executable */
#define START_FIELD 22   /* of /proc/PID/stat */
#define PARENT_FIELD 4   /* the same */
#define NS_PER_S INT64_C(1000000000)

typedef struct known_line {
  struct known_line *next;
  uint32_t place, text;
} known_line;

static _Atomic(known_line *) known; /* (owned) the newest first; nothing goes away */
static td_number_map met;           /* by the hash of file and line; guarded by the GIL */

/* ---- since when the program runs ---- */

static int64_t
ns_of(struct timespec time) {
  return time.tv_sec * NS_PER_S + time.tv_nsec;
}

/* The name of the command may have blanks and brackets. */
static bool
read_stat(int pid, long long *parent, long long *start) {
  char text[1024], path[64];
  snprintf(path, sizeof path, "/proc/%d/stat", pid);
  FILE *file = fopen(path, "re");
  size_t n = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[n] = '\0';
  char *at = strrchr(text, ')');
  for (int field = 3; at && field <= START_FIELD; field++) {
    at = strchr(at + 1, ' ');
    if (at && field == PARENT_FIELD) *parent = strtoll(at, NULL, 10);
    if (at && field == START_FIELD) *start = strtoll(at, NULL, 10);
  }
  return at != NULL;
}

static bool
runs_same(int pid, const struct stat *own) {
  char path[64];
  struct stat other;
  snprintf(path, sizeof path, "/proc/%d/exe", pid);
  return stat(path, &other) == 0 && other.st_dev == own->st_dev && other.st_ino == own->st_ino;
}

/* In ns of the wall clock; 0 if nobody can tell. The kernel counts ticks of 10 ms, so the process
 * may have begun that much later. Python reads no file of the program so soon. */
static int64_t
find_start(void) {
  struct stat own;
  struct timespec wall, since_boot;
  long long parent = getpid(), start = 0;
  if (stat("/proc/self/exe", &own) != 0) return 0;
  for (int i = 0; i < ANCESTORS_MAX && parent > 0 && runs_same((int)parent, &own); i++)
    if (!read_stat((int)parent, &parent, &start)) return 0;
  clock_gettime(CLOCK_REALTIME, &wall);
  clock_gettime(CLOCK_BOOTTIME, &since_boot);
  int64_t ticks = sysconf(_SC_CLK_TCK);
  return start ? ns_of(wall) - ns_of(since_boot) + (start + 1) * (NS_PER_S / ticks) : 0;
}

static bool
is_unchanged(const char *path) {
  static int64_t start; /* guarded by the GIL */
  struct stat facts;
  if (!start) start = find_start();
  return stat(path, &facts) == 0 && S_ISREG(facts.st_mode) && ns_of(facts.st_mtim) < start &&
         ns_of(facts.st_ctim) < start;
}

/* ---- lines ---- */

/* Without the blanks around it; false if there is none, or nothing in it. */
static bool
read_line(const char *path, int number, char text[TEXT_MAX + 1]) {
  FILE *file = fopen(path, "re");
  int at = 1, c = file ? getc(file) : EOF;
  size_t n = 0;
  for (; c != EOF && at < number; c = getc(file))
    at += c == '\n';
  while (c == ' ' || c == '\t')
    c = getc(file);
  for (; c != EOF && c != '\n' && c != '\r' && n < TEXT_MAX; c = getc(file))
    text[n++] = (char)c;
  if (file) fclose(file);
  while (n && text[n - 1] == ' ')
    n--;
  text[n] = '\0';
  return n > 0;
}

/* A relative path is another file after chdir(). "<stdin>" is none. */
static bool
is_programs(const char *file) {
  return *file == '/' && !strstr(file, "/site-packages/") && !strstr(file, "/dist-packages/");
}

static void
tell(const known_line *line) {
  TD_EMIT(source_line, .place = line->place, .text = line->text);
}

static void
learn(const char *file, int number) {
  char text[TEXT_MAX + 1];
  if (!is_unchanged(file) || !read_line(file, number, text)) return;
  char *place = td_format("%s:%d", file, number);
  known_line *line = TD_NEW(known_line);
  line->place = td_intern(place);
  line->text = td_intern(text);
  free(place);
  line->next = atomic_load_explicit(&known, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&known, &line->next, line, memory_order_release,
                                                memory_order_relaxed)) {
  }
  tell(line);
}

void
td_source_lines_note(const char *file, int line) {
  if (!is_programs(file) || met.n >= LINES_MAX) return;
  uint64_t hash = td_hash_bytes(TD_HASH_SEED, file, strlen(file)) + (uint64_t)line;
  uint64_t *is_met = td_number_map_put(&met, td_hash_number(hash));
  if ((*is_met)++) return;
  int before = errno;
  learn(file, line);
  errno = before;
}

void
td_source_lines_tell(void) {
  const known_line *line = atomic_load_explicit(&known, memory_order_acquire);
  for (; line; line = line->next)
    tell(line);
}
