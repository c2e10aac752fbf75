/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * What a check remembers of each thread: what it popped and has not completed, what it began and
 * has not ended. Private to engine/profile. One thread. */
#pragma once

#include "engine/base/number_map.h"
#include "engine/profile/check/check_spans.h"

typedef struct td_check_thread {
  td_event_queue_pop *pops; /* (owned) innermost last */
  size_t n_pops, pops_capacity;
  td_number_map n_open; /* by graph task: how many of its pops there are */
  td_check_spans spans; /* (owned) */
  uint64_t last_ns;
  bool is_inside; /* what it does may have begun before the tape */
} td_check_thread;

void td_check_thread_popped(td_check_thread *thread, const td_event_queue_pop *pop);

/* td_check_thread_completed takes away the innermost pop of a graph task, and what was left above
 * it, and writes whether it had a node. False if there is none. */
bool td_check_thread_completed(td_check_thread *thread, uint32_t graph_task, bool *had_node);

/* td_check_thread_now returns the innermost pop, or NULL. */
const td_event_queue_pop *td_check_thread_now(const td_check_thread *thread);
void td_check_thread_fini(td_check_thread *thread);
