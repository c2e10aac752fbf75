/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Who waited for which lock, and who held it; how long tasks lay in queues, and how threads slept
 * on them. Read-only once it is made; any number of threads may read it. */
#pragma once

#include "engine/profile/range.h"
#include "engine/profile/report/lock_waits.h"
#include "engine/profile/report/queue_waits.h"

/* A task from its push to its pop; times of the tape. node is TD_NONE if there was no task. If only
 * a part of that time is in the range, it counts as if it had been pushed so long before the pop.
 */
typedef struct td_lain_task {
  uint32_t node;
  uint64_t pop_seq, pushed_ns, popped_ns;
} td_lain_task;

typedef struct td_contended_queue {
  const char *name; /* (borrowed) "0 cpu" */
  uint64_t n_pushes, n_pops;
  td_lain_task longest;
  td_spread lay;          /* ns from the push to the pop */
  td_lay lay_by;          /* its sum, by cause */
  td_spread slept;        /* ns of a thread that waited for a task, while a pass was under way */
  td_lay with_tasks;      /* in passes: Note [Why tasks lie] in queue_waits.h */
  uint64_t n_empty_wakes; /* of these sleeps, ended by a task without a node */
} td_contended_queue;

/* Long work under a lock: while it lasts, nobody else gets the lock. All texts are borrowed. */
typedef struct td_contended_work {
  const char *lock;      /* "graph task" */
  const char *node;      /* that it was for: "AccumulateGrad(weight)" */
  const char *operation; /* how gradients were added: "in_place" */
  uint64_t n, ns;
} td_contended_work;

/* What happened while the wished pass lasted, or on all the tape. Queues are in the order of their
 * ids. */
typedef struct td_contention {
  uint32_t n_passes; /* outermost ones */
  td_lock_list locks;
  td_contended_queue *queues; /* (owned) that had a task */
  uint32_t n_queues;
  td_contended_work *works; /* (owned) the longest first */
  uint32_t n_works;
  uint64_t wall, worked_ns; /* ns of the passes; of all works */
  bool works_known;         /* some part of the tape has long sums, if there were any */
  td_knowledge locks_known, queues_known;
  td_text_table texts; /* (owned) */
} td_contention;

/* td_contention_make reads the tape once. `graph_task` is an outermost pass, or TD_NONE. NULL as
 * `range`: all time. Of a range, waits count that have a part in it, with that part: Note [Cut at
 * the borders] in range.h. TD_OUT_OF_RANGE if there is no such pass; else as td_catalog_visit. The
 * caller calls td_contention_fini in all cases. */
td_status td_contention_make(td_tape *tape, uint32_t graph_task, const td_range *range,
                             td_contention *contention, td_error *error);
void td_contention_fini(td_contention *contention);
