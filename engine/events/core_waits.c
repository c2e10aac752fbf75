/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/events/core_waits.h"

#include "engine/base/alloc.h"
#include "engine/base/forks.h"
#include "engine/base/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LEAST_NS 10000 /* a shorter wait is kept for the next look */
#define KEPT_SHARE 4   /* a descriptor in the first quarter of those allowed stays open */

typedef struct account {
  td_own_file file; /* (owned) the kernel's account of this thread, if it is kept open */
  uint32_t process; /* of n_forks, for which the file is open */
  uint32_t session; /* of the recording in which it began; 0: none */
  uint64_t since;   /* ticks */
  uint64_t waited;  /* ns, then */
  long switches;    /* at the last look */
} account;

static _Thread_local account *own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint32_t n_forks;        /* changes in a child, where one thread runs */
static _Atomic bool is_watched; /* relaxed: set where a recording begins */

static void
forked_cb(void) {
  n_forks++;
}

__attribute__((constructor)) static void
watch_forks(void) {
  td_fork_reset(forked_cb);
}

static void
free_account(void *data) {
  account *self = data;
  td_own_file_close(&self->file);
  free(self);
  own = NULL;
}

static void
make_key(void) {
  pthread_key_create(&key, free_account);
}

static account *
account_now(void) {
  if (own) return own;
  pthread_once(&once, make_key);
  account *self = calloc(1, sizeof *self);
  if (!self || pthread_setspecific(key, self)) {
    free(self);
    return NULL;
  }
  self->file.fd = -1;
  return own = self;
}

static void
open_account(account *self) {
  char path[64];
  if (self->file.fd >= 0) td_own_file_close(&self->file);
  snprintf(path, sizeof path, "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
  self->file = td_own_file_init(open(path, O_RDONLY | O_CLOEXEC));
  self->process = n_forks;
}

/* A program with many threads may need all descriptors that it is allowed: then none is kept. */
static bool
may_keep(const account *self) {
  struct rlimit limit;
  return !getrlimit(RLIMIT_NOFILE, &limit) && (rlim_t)self->file.fd < limit.rlim_cur / KEPT_SHARE;
}

/* "RAN WAITED TIMES": ns on a core, ns in which it could run and had none, and how often. */
static bool
parse(char *text, uint64_t *waited) {
  char *end;
  errno = 0;
  strtoull(text, &end, 10);
  if (end == text || *end != ' ') return false;
  char *second = end + 1;
  *waited = strtoull(second, &end, 10);
  return end > second && *end == ' ' && !errno;
}

static bool
read_waited(account *self, uint64_t *waited) {
  char text[96];
  if (self->process != n_forks || !td_own_file_is_there(&self->file)) open_account(self);
  if (self->file.fd < 0) return false;
  ssize_t n = pread(self->file.fd, text, sizeof text - 1, 0);
  if (!may_keep(self)) {
    td_own_file_close(&self->file);
    self->file.fd = -1;
  }
  if (n <= 0) return false;
  text[n] = 0;
  return parse(text, waited);
}

static long
count_switches(void) {
  struct rusage used;
  return getrusage(RUSAGE_THREAD, &used) ? -1 : used.ru_nvcsw + used.ru_nivcsw;
}

static void
begin(account *self) {
  uint64_t waited;
  self->switches = count_switches();
  self->session = read_waited(self, &waited) ? td_emit_session() : 0;
  if (self->session) self->waited = waited;
  self->since = td_clock_now();
}

void
td_core_begin(void) {
  int before = errno;
  bool wanted = td_recording() && atomic_load_explicit(&is_watched, memory_order_relaxed);
  account *self = wanted ? account_now() : NULL;
  if (self) begin(self);
  errno = before;
}

void
td_core_meet(void) {
  if (!own || own->session != td_emit_session()) td_core_begin();
}

static void
look(account *self) {
  uint64_t waited, now;
  long switches = count_switches();
  if (switches == self->switches) return;
  self->switches = switches;
  if (!read_waited(self, &waited) || waited < self->waited + LEAST_NS) return;
  now = td_clock_now();
  TD_EMIT_AT(now, core_wait, .waited = waited - self->waited, .over = now - self->since);
  self->since = now;
  self->waited = waited;
}

void
td_core_look(void) {
  int before = errno;
  if (!own || own->session != td_emit_session())
    td_core_begin();
  else
    look(own);
  errno = before;
}

void
td_core_tell(void) {
  atomic_store_explicit(&is_watched, true, memory_order_relaxed);
  td_core_begin();
  if (own && own->session) {
    TD_EMIT(core_wait, .waited = 0);
  } else {
    atomic_store_explicit(&is_watched, false, memory_order_relaxed);
    TD_EMIT(known, .kind = td_intern("core_wait"), .how = TD_knowledge_absent);
  }
}
