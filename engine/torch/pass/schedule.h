/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * A schedule: the choices of another run, to be made again in the same program. A choice names its
 * node by what the same program repeats: pass, name, sequence_nr and number. If the program
 * differs, the schedule says so once on standard error, and the queue's own order goes on. One per
 * process. Private to engine/torch/pass, but for td_scheduled and td_schedule_end. */
#pragma once

#include "engine/torch/pass/ready_queue.h"

typedef struct td_scheduled {
  uint32_t graph_task;
  td_device device; /* of the queue */
  uint32_t
      position; /* how many nodes of that pass were popped from a queue of that device before it */
  uint32_t node;
  uint64_t sequence_nr;
  char *name; /* (owned) of the node */
} td_scheduled;

/* td_schedule_set takes n choices in the order of their tape, which `source` names. Before the
 * first pass of the process. */
void td_schedule_set(td_scheduled *choices, size_t n, const char *source);

/* td_schedule_pick says what the schedule wants popped, or whose turn it is. td_schedule_count
 * counts the task that is popped. Both under the queue's lock. */
td_pick td_schedule_pick(const td_ready_queue *queue);
void td_schedule_count(const td_ready_queue *queue, const td_node_task *task);

/* td_schedule_end says on standard error how many choices were not made again, if any. When no pass
 * runs any more. */
void td_schedule_end(void);
