/* SPDX-License-Identifier: LGPL-2.1-or-later
 *
 * The tasks of a model with durations that somebody changed. Any thread. */
#pragma once

#include "engine/profile/model/pass_model.h"

/* A change of what was recorded: functions of this name, or this node, take `share` of their time.
 * With a share of 0, all of the task takes none. */
typedef struct td_scaling {
  const char *name; /* (borrowed) or NULL: `node` */
  uint32_t node;
  double share;
} td_scaling;

/* td_virtual_tasks_find notes in is_found[n] which changes are of a task of this model.
 * td_virtual_tasks_refuse fails with TD_OUT_OF_RANGE if one was never found. */
void td_virtual_tasks_find(const td_pass_model *model, const td_scaling *scalings, uint32_t n,
                           bool *is_found);
td_status td_virtual_tasks_refuse(const td_scaling *scalings, uint32_t n, const bool *is_found,
                                  td_error *error);

/* A stall that takes no time, and how much of the task such stalls before it are. */
typedef struct td_virtual_cut {
  uint64_t begin_ns, end_ns, before_ns;
} td_virtual_cut;

typedef struct td_virtual_task {
  uint64_t total_ns, path_ns; /* path: the longest way from its pop to the end of the last task */
  uint64_t held, sent;        /* bytes in its buffer, and of what it hands on */
  double share;               /* of the function's time */
  uint32_t first_cut, n_cuts;
} td_virtual_task;

typedef struct td_virtual_tasks {
  td_virtual_task *items; /* (owned) [model->n_tasks] */
  td_virtual_cut *cuts;   /* (owned) by task; those of a task lie apart */
} td_virtual_tasks;

/* td_virtual_tasks_take makes the tasks of a model. Stalls that follow, and what `frees` has a bit
 * of (1 << TD_FREE_hook), take no time. TD_OUT_OF_MEMORY. The caller calls td_virtual_tasks_fini in
 * all cases. */
td_status td_virtual_tasks_take(const td_pass_model *model, const td_scaling *scalings,
                                uint32_t n_scalings, unsigned frees, td_virtual_tasks *tasks);
void td_virtual_tasks_fini(td_virtual_tasks *tasks);

/* td_virtual_time returns when something comes that was recorded `offset_ns` after the pop of a
 * task. td_virtual_offset returns that of a delivery. */
uint64_t td_virtual_time(const td_pass_model *model, const td_virtual_tasks *tasks, uint32_t task,
                         uint64_t offset_ns);
uint64_t td_virtual_offset(const td_pass_model *model, const td_virtual_tasks *tasks,
                           uint32_t delivery);
