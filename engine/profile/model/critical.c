/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/critical.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"

/* What a task waited for: the longest way to it. */
typedef struct reach {
  uint64_t early_ns, late_ns; /* the longest way to its pop, and from its pop to the end */
  uint32_t before;            /* the task on that way, or TD_NONE */
  td_critical_link link;
  uint32_t next_on_thread;
} reach;

/* A task can begin so long after the path began. The first of equal ways counts. */
static void
lead_to(reach *to, uint32_t from, uint64_t ns, td_critical_link link) {
  if (to->before != TD_NONE && ns <= to->early_ns) return;
  *to = (reach){ns, to->late_ns, from, link, to->next_on_thread};
}

static void
find_threads(const td_pass_model *model, reach *reaches) {
  td_number_map last = {0}; /* by thread: 1 + its last task */
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    uint64_t *before = td_number_map_put(&last, model->tasks[i].thread);
    reaches[i] = (reach){.before = TD_NONE, .next_on_thread = TD_NONE};
    if (*before) reaches[*before - 1].next_on_thread = i;
    *before = i + UINT64_C(1);
  }
  td_number_map_fini(&last);
}

/* Tasks lie in the order of their pops, so all ways to a task are known when its turn comes. */
static void
go_forward(const td_pass_model *model, reach *reaches) {
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    const td_model_task *task = &model->tasks[i];
    uint64_t begin = reaches[i].early_ns;
    for (uint32_t k = task->first; k < task->first + task->n; k++) {
      const td_model_delivery *one = &model->deliveries[k];
      if (one->to > i) lead_to(&reaches[one->to], i, begin + one->offset_ns, TD_CRITICAL_gradient);
    }
    uint32_t next = reaches[i].next_on_thread;
    if (next != TD_NONE) lead_to(&reaches[next], i, begin + task->total_ns, TD_CRITICAL_thread);
  }
}

static void
go_back(const td_pass_model *model, reach *reaches) {
  for (uint32_t i = model->n_tasks; i-- > 0;) {
    const td_model_task *task = &model->tasks[i];
    uint32_t next = reaches[i].next_on_thread;
    uint64_t longest = task->total_ns + (next == TD_NONE ? 0 : reaches[next].late_ns);
    for (uint32_t k = task->first; k < task->first + task->n; k++) {
      const td_model_delivery *one = &model->deliveries[k];
      if (one->to > i) longest = TD_MAX(longest, one->offset_ns + reaches[one->to].late_ns);
    }
    reaches[i].late_ns = longest;
  }
}

static uint32_t
find_last(const td_pass_model *model, const reach *reaches, uint64_t *length) {
  uint32_t last = TD_NONE;
  for (uint32_t i = 0; i < model->n_tasks; i++) {
    uint64_t end = reaches[i].early_ns + model->tasks[i].total_ns;
    if (last != TD_NONE && end <= *length) continue;
    *length = end;
    last = i;
  }
  return last;
}

static void
list_steps(const reach *reaches, uint32_t last, td_critical *critical) {
  for (uint32_t i = last; i != TD_NONE; i = reaches[i].before)
    critical->n_steps++;
  critical->steps = TD_NEW_N(td_critical_step, TD_MAX(critical->n_steps, 1u));
  uint64_t end = critical->length_ns;
  uint32_t at = critical->n_steps;
  for (uint32_t i = last; i != TD_NONE; i = reaches[i].before) {
    const reach *reach = &reaches[i];
    td_critical_link link = reach->before == TD_NONE ? TD_CRITICAL_begin : reach->link;
    critical->steps[--at] = (td_critical_step){i, link, end - reach->early_ns};
    end = reach->early_ns;
  }
}

td_status
td_critical_make(const td_pass_model *model, td_critical *critical) {
  *critical = (td_critical){.slack_ns = td_try_alloc(model->n_tasks, sizeof *critical->slack_ns)};
  reach *reaches = td_try_alloc(model->n_tasks, sizeof *reaches);
  if (!reaches || !critical->slack_ns) {
    free(reaches);
    td_critical_fini(critical);
    return TD_OUT_OF_MEMORY;
  }
  find_threads(model, reaches);
  go_forward(model, reaches);
  go_back(model, reaches);
  list_steps(reaches, find_last(model, reaches, &critical->length_ns), critical);
  for (uint32_t i = 0; i < model->n_tasks; i++)
    critical->slack_ns[i] =
        critical->length_ns - TD_MIN(critical->length_ns, reaches[i].early_ns + reaches[i].late_ns);
  free(reaches);
  return TD_OK;
}

void
td_critical_fini(td_critical *critical) {
  free(critical->steps);
  free(critical->slack_ns);
  *critical = (td_critical){0};
}
