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

typedef struct td_virtual_task {
  uint64_t total_ns, path_ns; /* path: the longest way from its pop to the end of the last task */
  uint64_t held, sent;        /* bytes in its buffer, and of what it hands on */
  double share;               /* of the function's time */
} td_virtual_task;

/* td_virtual_tasks_take fills in [model->n_tasks] tasks. */
void td_virtual_tasks_take(const td_pass_model *model, const td_scaling *scalings,
                           uint32_t n_scalings, td_virtual_task *tasks);

/* td_virtual_time returns when something comes that was recorded `offset_ns` after the pop of a
 * task, if its function takes a share of its time. */
uint64_t td_virtual_time(const td_model_task *task, double share, uint64_t offset_ns);

/* td_virtual_offset returns when a delivery comes, in ns after the pop of the task that makes it.
 */
uint64_t td_virtual_offset(const td_pass_model *model, const td_virtual_task *tasks,
                           uint32_t delivery);
