/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/base/forks.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#define PER_RANK 12
#define RESETS_MAX 8

static _Atomic(pthread_mutex_t *) guarded[TD_N_FORK_RANKS][PER_RANK];

static void (*resets[RESETS_MAX])(void);
static size_t n_resets;

static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER; /* guards taken */
static pthread_mutex_t *taken[TD_N_FORK_RANKS * PER_RANK];
static size_t n_taken;

/* Two handlers may surround one fork: ours and the preloaded library's. */
static _Thread_local int depth;

void
td_fork_before(void) {
  if (depth++ > 0) return;
  pthread_mutex_lock(&forking);
  for (int rank = 0; rank < TD_N_FORK_RANKS; rank++)
    for (int i = 0; i < PER_RANK; i++) {
      pthread_mutex_t *mutex = atomic_load_explicit(&guarded[rank][i], memory_order_acquire);
      if (!mutex) break;
      pthread_mutex_lock(mutex);
      taken[n_taken++] = mutex;
    }
}

/* Older C libraries call a handler that came in the middle of a fork. */
static bool
is_last(void) {
  return depth > 0 && --depth == 0;
}

static void
release(void) {
  while (n_taken > 0)
    pthread_mutex_unlock(taken[--n_taken]);
  pthread_mutex_unlock(&forking);
}

void
td_fork_after(void) {
  if (is_last()) release();
}

void
td_fork_after_in_child(void) {
  if (!is_last()) return;
  release();
  for (size_t i = 0; i < n_resets; i++)
    resets[i]();
}

void
td_fork_watch(void) {
  static _Atomic bool is_watching;
  if (atomic_load_explicit(&is_watching, memory_order_acquire)) return;
  pthread_atfork(td_fork_before, td_fork_after, td_fork_after_in_child);
  atomic_store_explicit(&is_watching, true, memory_order_release);
}

void
td_fork_reset(void (*reset)(void)) {
  assert(n_resets < RESETS_MAX);
  resets[n_resets++] = reset;
}

void
td_fork_guard(pthread_mutex_t *mutex, td_fork_rank rank) {
  for (int i = 0; i < PER_RANK; i++) {
    pthread_mutex_t *free = NULL;
    if (atomic_compare_exchange_strong(&guarded[rank][i], &free, mutex)) return;
  }
  assert(!"more mutexes of one rank than there is room for");
}
