/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The critical path of recorded passes: the longest chain of tasks, each of which had to wait for
 * the one before. It waited for its gradient, for its thread, for a lock that the one before had,
 * or for a kernel of the one before. A kernel waits for its launch, or for work of a stream. A pass
 * model has the durations; time between the tasks, in which a thread wakes up, is not part of the
 * path. The path ends with work of a thread: kernels that no thread waits for are on no path.
 * Read-only once it is made. */
#pragma once

#include "engine/profile/model/pass_model.h"

/* TD_CRITICAL_LINKS: why a task follows the one before on the path. */
typedef enum td_critical_link {
  TD_CRITICAL_begin,
  TD_CRITICAL_gradient,
  TD_CRITICAL_thread,
  TD_CRITICAL_lock,
  TD_CRITICAL_launch,
  TD_CRITICAL_stream
} td_critical_link;

typedef struct td_critical_step {
  uint32_t task;
  bool is_same_task;      /* as in the step before: it waited in between, or its kernel begins */
  td_model_stream stream; /* of its kernel; else TD_MODEL_NO_STREAM: it ran on its thread */
  td_critical_link link;  /* from the step before */
  uint32_t wait;          /* of the model: its thread's, for a lock or a stream; else TD_NONE */
  uint64_t ns;            /* of the task, until the next step could begin */
  uint64_t wait_ns;       /* of these, in a wait for what no task of the model did */
} td_critical_step;

typedef struct td_critical {
  uint64_t length_ns;      /* the sum of all steps */
  td_critical_step *steps; /* (owned) in time */
  uint32_t n_steps;
  uint32_t n_nodes;   /* steps to another task */
  uint64_t *slack_ns; /* (owned) by task: how much longer it could take without a longer path */
} td_critical;

/* td_critical_make finds the path of all passes of a model. TD_OUT_OF_MEMORY. */
td_status td_critical_make(const td_pass_model *model, td_critical *critical);
void td_critical_fini(td_critical *critical);
