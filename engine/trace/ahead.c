/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/ahead.h"

#include "engine/base/alloc.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#define SLOTS 32 /* 4 MB */
#define BATCH 8  /* to wake a thread costs as much as a block */

struct td_ahead {
  td_block_source *source; /* (borrowed) */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t loaded, freed;
  td_block slots[SLOTS]; /* block b is in slot b % SLOTS */
  uint64_t n_blocks;     /* the last one is before this */
  /* under the mutex: */
  uint64_t n_loaded, n_taken; /* up to which block; the last one taken is in use */
  bool stopped;
};

/* The reader uses one more slot. */
static uint64_t
n_waiting(const td_ahead *ahead) {
  return ahead->n_loaded - ahead->n_taken;
}

static void *
load_blocks(void *data) {
  td_ahead *ahead = data;
  pthread_mutex_lock(&ahead->mutex);
  while (ahead->n_loaded < ahead->n_blocks && !ahead->stopped) {
    if (n_waiting(ahead) == SLOTS - 1) {
      pthread_cond_wait(&ahead->freed, &ahead->mutex);
      continue;
    }
    uint64_t number = ahead->n_loaded;
    pthread_mutex_unlock(&ahead->mutex);
    td_block_load(ahead->source, &ahead->slots[number % SLOTS], number);
    pthread_mutex_lock(&ahead->mutex);
    ahead->n_loaded++;
    if (n_waiting(ahead) >= BATCH || ahead->n_loaded == ahead->n_blocks)
      pthread_cond_signal(&ahead->loaded);
  }
  pthread_mutex_unlock(&ahead->mutex);
  return NULL;
}

/* Signals are for the program's own threads. */
static bool
start(td_ahead *ahead) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int failure = pthread_create(&ahead->thread, NULL, load_blocks, ahead);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return !failure;
}

static void
fini(td_ahead *ahead) {
  for (int i = 0; i < SLOTS; i++)
    td_decoded_fini(&ahead->slots[i].events);
  pthread_cond_destroy(&ahead->loaded);
  pthread_cond_destroy(&ahead->freed);
  pthread_mutex_destroy(&ahead->mutex);
  free(ahead);
}

td_ahead *
td_ahead_new(td_block_source *source, uint64_t first, uint64_t end) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) return NULL;
  td_ahead *ahead = TD_NEW(td_ahead);
  ahead->source = source;
  ahead->n_loaded = ahead->n_taken = first;
  ahead->n_blocks = end;
  pthread_mutex_init(&ahead->mutex, NULL);
  pthread_cond_init(&ahead->loaded, NULL);
  pthread_cond_init(&ahead->freed, NULL);
  if (start(ahead)) return ahead;
  fini(ahead);
  return NULL;
}

void
td_ahead_free(td_ahead *ahead) {
  pthread_mutex_lock(&ahead->mutex);
  ahead->stopped = true;
  pthread_cond_signal(&ahead->freed);
  pthread_mutex_unlock(&ahead->mutex);
  pthread_join(ahead->thread, NULL);
  fini(ahead);
}

const td_block *
td_ahead_take(td_ahead *ahead, uint64_t number) {
  if (number != ahead->n_taken || number >= ahead->n_blocks) return NULL;
  pthread_mutex_lock(&ahead->mutex);
  while (n_waiting(ahead) == 0)
    pthread_cond_wait(&ahead->loaded, &ahead->mutex);
  ahead->n_taken++;
  if (n_waiting(ahead) < SLOTS - BATCH) pthread_cond_signal(&ahead->freed);
  pthread_mutex_unlock(&ahead->mutex);
  return &ahead->slots[number % SLOTS];
}
