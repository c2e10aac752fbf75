/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/virtual_tasks.h"

#include "engine/base/alloc.h"
#include "engine/base/bisect.h"

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

/* ---- stalls that take no time ---- */

static bool
takes_none(const td_model_stall *stall, unsigned frees) {
  return stall->follows || (frees >> stall->what & 1);
}

/* Stalls of a task lie in the order of their begins. A hook may have waits in it. */
static void
add_cut(td_virtual_tasks *self, td_virtual_task *task, const td_model_stall *stall) {
  td_virtual_cut *last = task->n_cuts ? &self->cuts[task->first_cut + task->n_cuts - 1] : NULL;
  if (last && stall->begin_ns <= last->end_ns) {
    last->end_ns = TD_MAX(last->end_ns, stall->end_ns);
    return;
  }
  uint64_t before = last ? last->before_ns + last->end_ns - last->begin_ns : 0;
  self->cuts[task->first_cut + task->n_cuts++] =
      (td_virtual_cut){stall->begin_ns, stall->end_ns, before};
}

static void
find_cuts(const td_pass_model *model, unsigned frees, td_virtual_tasks *self) {
  for (uint32_t i = 0; i < model->n_stalls; i++) {
    const td_model_stall *stall = &model->stalls[i];
    td_virtual_task *task = &self->items[stall->task];
    if (!takes_none(stall, frees)) continue;
    if (!task->n_cuts) task->first_cut = i;
    add_cut(self, task, stall);
  }
}

/* How much of a task's first `offset` ns takes no time. */
static uint64_t
cut_until(const td_virtual_tasks *self, const td_virtual_task *task, uint64_t offset) {
  uint32_t at;
  TD_BISECT(at, task->first_cut, task->first_cut + task->n_cuts, self->cuts[at].begin_ns < offset);
  if (at == task->first_cut) return 0;
  const td_virtual_cut *cut = &self->cuts[at - 1];
  return cut->before_ns + TD_MIN(offset, cut->end_ns) - cut->begin_ns;
}

/* ---- times ---- */

uint64_t
td_virtual_time(const td_pass_model *model, const td_virtual_tasks *self, uint32_t number,
                uint64_t offset) {
  const td_model_task *facts = &model->tasks[number];
  const td_virtual_task *task = &self->items[number];
  if (task->share == 0) return 0;
  uint64_t taken = offset - cut_until(self, task, offset);
  if (task->share == 1) return taken;
  uint64_t first = TD_MIN(offset, facts->begin_ns);
  uint64_t last = TD_MIN(offset, facts->begin_ns + facts->apply_ns);
  uint64_t inside = last - cut_until(self, task, last) - (first - cut_until(self, task, first));
  return taken - inside + (uint64_t)((double)inside * task->share);
}

uint64_t
td_virtual_offset(const td_pass_model *model, const td_virtual_tasks *tasks, uint32_t delivery) {
  const td_model_delivery *one = &model->deliveries[delivery];
  return td_virtual_time(model, tasks, one->from, one->offset_ns);
}

/* Tasks lie in the order of their pops, so what a task leads to comes after it. */
static void
find_paths(const td_pass_model *model, td_virtual_tasks *self) {
  for (uint32_t i = model->n_tasks; i-- > 0;) {
    const td_model_task *facts = &model->tasks[i];
    uint64_t longest = self->items[i].total_ns;
    for (uint32_t k = facts->first; k < facts->first + facts->n; k++)
      longest = TD_MAX(longest, td_virtual_offset(model, self, k) +
                                    self->items[model->deliveries[k].to].path_ns);
    self->items[i].path_ns = longest;
  }
}

static uint64_t
sent_by(const td_pass_model *model, const td_model_task *task) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < task->n; i++)
    bytes += model->deliveries[task->first + i].bytes;
  return bytes;
}

td_status
td_virtual_tasks_take(const td_pass_model *model, const td_scaling *scalings, uint32_t n_scalings,
                      unsigned frees, td_virtual_tasks *self) {
  *self = (td_virtual_tasks){.items = td_try_alloc(model->n_tasks, sizeof *self->items),
                             .cuts = td_try_alloc(model->n_stalls, sizeof *self->cuts)};
  if (!self->items || !self->cuts) return TD_OUT_OF_MEMORY;
  find_cuts(model, frees, self);
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    const td_model_task *facts = &model->tasks[i];
    self->items[i].share = share_of(scalings, n_scalings, facts);
    self->items[i].total_ns = td_virtual_time(model, self, i, facts->total_ns);
    self->items[i].sent = sent_by(model, facts);
  }
  find_paths(model, self);
  return TD_OK;
}

void
td_virtual_tasks_fini(td_virtual_tasks *self) {
  free(self->items);
  free(self->cuts);
  *self = (td_virtual_tasks){0};
}
