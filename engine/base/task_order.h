/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of two ready tasks goes first. A shutdown task does, then a dummy task, then a task whose
 * graph task is gone. After these goes the deeper re-entrant pass, then the higher sequence_nr. The
 * heap breaks ties (engine/base/heap.h). The engine's ready queue, its replay and the probe's
 * reconstruction share this order; engine/profile/check/check_queue.c has a second one to judge
 * them. Pure functions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef enum td_task_kind { TD_TASK_NODE, TD_TASK_DUMMY, TD_TASK_SHUTDOWN } td_task_kind;

/* Passes nested in nodes on one thread; deeper ones go to the pool. MAX_DEPTH of PyTorch's
 * torch/csrc/autograd/engine.h. */
#define TD_MAX_DEPTH 60

/* The depth of a task whose graph task is gone: the task becomes urgent, to be thrown away. */
#define TD_TASK_DEPTH_GONE INT32_MAX

/* What decides a task's place. A dummy and a shutdown task have a kind alone. */
typedef struct td_task_place {
  td_task_kind kind;
  uint32_t depth; /* of the re-entrant pass, or TD_TASK_DEPTH_GONE */
  uint64_t sequence_nr;
} td_task_place;

/* td_task_goes_after returns true if b goes strictly before a. Two shutdown tasks each go before
 * the other, as in PyTorch. */
static inline bool
td_task_goes_after(td_task_place a, td_task_place b) {
  if (b.kind == TD_TASK_SHUTDOWN) return true;
  if (a.kind != TD_TASK_NODE) return false;
  if (b.kind == TD_TASK_DUMMY) return true;
  if (a.depth != b.depth) return a.depth < b.depth;
  return a.sequence_nr < b.sequence_nr;
}
