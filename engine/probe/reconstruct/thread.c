/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/probe/reconstruct/thread.h"

#include "engine/base/alloc.h"
#include "engine/events/emit.h"
#include "engine/probe/probe.h"

static td_rthread *threads;                  /* (owned) all that were seen */
static _Thread_local td_rthread *own_thread; /* (borrowed) */
static uint32_t n_recordings;

void
td_rthreads_start(void) {
  threads = NULL;
  n_recordings++;
}

static td_rthread *
make_thread(void) {
  td_rthread *thread = TD_NEW(td_rthread);
  *thread = (td_rthread){.next = threads, .recording = n_recordings, .id = td_emit_thread_id()};
  threads = thread;
  td_probe_name_caller();
  return thread;
}

td_rthread *
td_rthread_now(void) {
  if (!own_thread || own_thread->recording != n_recordings) own_thread = make_thread();
  td_rthread *thread = own_thread;
  thread->ring = td_emit_ring;
  return thread;
}

td_rthread *
td_rthreads_first(void) {
  return threads;
}

td_ring *
td_rthread_speak_for(const td_rthread *thread) {
  td_ring *own = td_emit_ring;
  if (thread->ring) td_emit_ring = thread->ring;
  return own;
}

void
td_rthread_speak_for_self(td_ring *own) {
  td_emit_ring = own;
}

void
td_rthread_note_running(td_rthread *thread, td_rpass *pass, td_rnode *node) {
  TD_GROW(thread->running, thread->n_running, thread->running_capacity);
  thread->running[thread->n_running++] = (td_running){pass, node};
}

void
td_rthread_note_ended(td_rthread *thread, td_running ended, const td_seen_gradient *gradients,
                      uint32_t n) {
  ended.pass->refs++;
  thread->ended = ended;
  thread->gradients = td_realloc(thread->gradients, n + 1, sizeof *gradients);
  for (uint32_t i = 0; i < n; i++)
    thread->gradients[i] = gradients[i];
  thread->n_gradients = n;
}
