/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/trace/derive/thread.h"

#include "engine/base/alloc.h"

td_rthread *
td_rthread_of(td_derivation *self, uint32_t number) {
  if (self->threads[number]) return self->threads[number];
  td_rthread *thread = TD_NEW(td_rthread);
  *thread = (td_rthread){.id = number, .last_node = TD_NONE};
  return self->threads[number] = thread;
}

void
td_rthreads_fini(td_derivation *self) {
  for (uint32_t i = 0; i < self->n_threads; i++) {
    td_rthread *thread = self->threads[i];
    if (!thread) continue;
    if (thread->ended.pass) td_rpass_unref(self, thread->ended.pass);
    free(thread->running);
    free(thread->gradients);
    free(thread);
  }
  free(self->threads);
}

void
td_rthread_note_running(td_rthread *thread, td_rpass *pass, td_rnode *node) {
  TD_GROW(thread->running, thread->n_running, thread->running_capacity);
  thread->running[thread->n_running++] = (td_running){pass, node};
  pass->n_working++;
}

void
td_rthread_note_ended(td_rthread *thread, td_running ended) {
  ended.pass->refs++;
  ended.pass->n_working++;
  thread->ended = ended;
  thread->n_gradients = 0;
}

void
td_rthread_add_gradient(td_rthread *thread, const td_event_node_gradient *event) {
  if (!thread->ended.pass || thread->ended.node->id != event->node) return;
  TD_GROW(thread->gradients, thread->n_gradients, thread->gradients_capacity);
  thread->gradients[thread->n_gradients++] =
      (td_rgradient){event->output_nr, true, event->device, event->bytes};
}

td_running
td_rthread_take_ended(td_rthread *thread) {
  td_running ended = thread->ended;
  thread->ended = (td_running){0};
  if (ended.pass) ended.pass->n_working--;
  return ended;
}
