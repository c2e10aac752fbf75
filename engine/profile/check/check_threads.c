/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/check/check_threads.h"

#include "engine/base/alloc.h"

void
td_check_thread_popped(td_check_thread *thread, const td_event_queue_pop *pop) {
  TD_GROW(thread->pops, thread->n_pops, thread->pops_capacity);
  thread->pops[thread->n_pops++] = *pop;
  ++*td_number_map_put(&thread->n_open, pop->graph_task);
}

static const td_event_queue_pop *
take_pop(td_check_thread *thread) {
  const td_event_queue_pop *last = &thread->pops[--thread->n_pops];
  --*td_number_map_find(&thread->n_open, last->graph_task);
  return last;
}

bool
td_check_thread_completed(td_check_thread *thread, uint32_t graph_task, bool *had_node) {
  const uint64_t *n_open = td_number_map_find(&thread->n_open, graph_task);
  if (!n_open || *n_open == 0) return false;
  const td_event_queue_pop *pop = take_pop(thread);
  while (pop->graph_task != graph_task)
    pop = take_pop(thread);
  *had_node = pop->node != TD_NONE;
  return true;
}

const td_event_queue_pop *
td_check_thread_now(const td_check_thread *thread) {
  return thread->n_pops ? &thread->pops[thread->n_pops - 1] : NULL;
}

void
td_check_thread_fini(td_check_thread *thread) {
  free(thread->pops);
  td_number_map_fini(&thread->n_open);
  td_check_spans_fini(&thread->spans);
  *thread = (td_check_thread){0};
}
