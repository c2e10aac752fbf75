/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * Which of two ready tasks goes first. The rules are those of CompareNodeTaskTime in PyTorch's
 * torch/csrc/autograd/engine.h, in this order:
 *
 * 1. a shutdown task, which ends its thread;
 * 2. a dummy task, which only wakes the owner of a pass;
 * 3. the deeper re-entrant pass: a task whose graph task is gone counts as deepest, to be thrown
 *    away (NodeTask::getReentrantDepth);
 * 4. the greater rank, which a policy of `whatif` gives: the engine has none;
 * 5. the higher sequence_nr: an AccumulateGrad has the highest.
 *
 * Ties are the heap's: Note [Tie order] in engine/DESIGN.md. The two schedulers of 2017 look at
 * nothing but the order of pushes. The engine's own ready queue does not include this file: see
 * Note [One scheduler] in machine.h. Pure functions. */
#pragma once

#include "engine/events/event.h"

typedef enum td_task_kind { TD_TASK_NODE, TD_TASK_DUMMY, TD_TASK_SHUTDOWN } td_task_kind;

/* Passes nested in nodes on one thread; deeper ones go to the pool. MAX_DEPTH of PyTorch's
 * torch/csrc/autograd/engine.h. */
#define TD_MAX_DEPTH 60

/* The depth of a task whose graph task is gone. */
#define TD_TASK_DEPTH_GONE INT32_MAX

/* What decides a task's place. A dummy and a shutdown task have a kind alone. */
typedef struct td_task_place {
  td_task_kind kind;
  uint32_t depth; /* of the re-entrant pass, or TD_TASK_DEPTH_GONE */
  int64_t rank;   /* 0 under the engine's own policy */
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
  if (a.rank != b.rank) return a.rank < b.rank;
  return a.sequence_nr < b.sequence_nr;
}

/* td_push_goes_after is td_task_goes_after for the other orders of a queue: first in, first out, or
 * last in, first out. a and b are the numbers of pushes. */
static inline bool
td_push_goes_after(td_queue_order order, uint64_t a, uint64_t b) {
  return order == TD_queue_order_fifo ? b < a : b > a;
}
