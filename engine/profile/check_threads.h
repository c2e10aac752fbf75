/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a check remembers of each thread: what it popped and has not completed, what it began and
 * has not ended. Private to engine/profile. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/events/event.h"

/* A node, hook or kernel that began. */
typedef struct td_check_span {
  uint16_t end_kind; /* the event that ends it */
  uint32_t object;   /* node, for a hook with the kind of hook */
  uint32_t detail;
  uint32_t graph_task; /* in which it began, or TD_NONE */
} td_check_span;

typedef struct td_check_thread {
  td_event_queue_pop *pops; /* (owned) innermost last */
  size_t n_pops, pops_capacity;
  td_number_map n_open; /* by graph task: how many of its pops there are */
  td_check_span *spans; /* (owned) innermost last */
  size_t n_spans, spans_capacity;
  uint64_t last_ns;
} td_check_thread;

void td_check_thread_begin(td_check_thread *thread, td_check_span span);

/* td_check_thread_end closes the innermost span, and those above it that were broken off; false,
 * and nothing changes, where the innermost is another one. */
typedef bool (*td_check_span_test)(const td_check_span *span, void *data);
bool td_check_thread_end(td_check_thread *thread, td_check_span span,
                         td_check_span_test is_broken_off, void *data);

void td_check_thread_popped(td_check_thread *thread, const td_event_queue_pop *pop);

/* td_check_thread_completed takes away the innermost pop of a graph task, and what was left above
 * it, and writes whether it had a node. False if there is none. */
bool td_check_thread_completed(td_check_thread *thread, uint32_t graph_task, bool *had_node);

/* td_check_thread_now returns the innermost pop, or NULL. */
const td_event_queue_pop *td_check_thread_now(const td_check_thread *thread);
void td_check_thread_fini(td_check_thread *thread);
