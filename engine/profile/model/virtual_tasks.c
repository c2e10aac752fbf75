/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/virtual_tasks.h"

#include "engine/base/alloc.h"

#include <string.h>

static bool
is_of(const td_scaling *scaling, const td_model_task *task) {
  return scaling->name ? strcmp(scaling->name, task->name) == 0 : scaling->node == task->node;
}

void
td_virtual_tasks_find(const td_pass_model *model, const td_scaling *scalings, uint32_t n,
                      bool *is_found) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t task = 0; !is_found[i] && task < model->n_tasks; task++)
      is_found[i] = is_of(&scalings[i], &model->tasks[task]);
}

td_status
td_virtual_tasks_refuse(const td_scaling *scalings, uint32_t n, const bool *is_found,
                        td_error *error) {
  for (uint32_t i = 0; i < n; i++) {
    const td_scaling *scaling = &scalings[i];
    if (is_found[i]) continue;
    if (scaling->name)
      return td_error_set(error, TD_OUT_OF_RANGE, "no function of these passes is called '%s'",
                          scaling->name);
    return td_error_set(error, TD_OUT_OF_RANGE, "node #%u did not run in these passes",
                        scaling->node);
  }
  return TD_OK;
}

static double
share_of(const td_scaling *scalings, uint32_t n, const td_model_task *task) {
  double share = 1;
  for (uint32_t i = 0; i < n; i++)
    if (is_of(&scalings[i], task)) share *= scalings[i].share;
  return share;
}

uint64_t
td_virtual_time(const td_model_task *task, double share, uint64_t offset_ns) {
  if (share == 1) return offset_ns;
  if (share == 0) return 0;
  uint64_t end = task->begin_ns + task->apply_ns;
  uint64_t inside = TD_MIN(offset_ns, end) - TD_MIN(offset_ns, task->begin_ns);
  return offset_ns - inside + (uint64_t)((double)inside * share);
}

uint64_t
td_virtual_offset(const td_pass_model *model, const td_virtual_task *tasks, uint32_t delivery) {
  const td_model_delivery *one = &model->deliveries[delivery];
  return td_virtual_time(&model->tasks[one->from], tasks[one->from].share, one->offset_ns);
}

/* Tasks lie in the order of their pops, so what a task leads to comes after it. */
static void
find_paths(const td_pass_model *model, td_virtual_task *tasks) {
  for (uint32_t i = model->n_tasks; i-- > 0;) {
    const td_model_task *facts = &model->tasks[i];
    uint64_t longest = tasks[i].total_ns;
    for (uint32_t k = facts->first; k < facts->first + facts->n; k++)
      longest = TD_MAX(longest,
                       td_virtual_offset(model, tasks, k) + tasks[model->deliveries[k].to].path_ns);
    tasks[i].path_ns = longest;
  }
}

static uint64_t
sent_by(const td_pass_model *model, const td_model_task *task) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < task->n; i++)
    bytes += model->deliveries[task->first + i].bytes;
  return bytes;
}

void
td_virtual_tasks_take(const td_pass_model *model, const td_scaling *scalings, uint32_t n_scalings,
                      td_virtual_task *tasks) {
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    const td_model_task *facts = &model->tasks[i];
    double share = share_of(scalings, n_scalings, facts);
    tasks[i] = (td_virtual_task){.share = share,
                                 .total_ns = td_virtual_time(facts, share, facts->total_ns),
                                 .sent = sent_by(model, facts)};
  }
  find_paths(model, tasks);
}
