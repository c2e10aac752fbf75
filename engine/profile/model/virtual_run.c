/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/virtual_run.h"

#include "engine/base/alloc.h"
#include "engine/base/number_map.h"

#include <string.h>

static const char *const schedule_names[TD_N_SCHEDULES] = {
#define X(name, summary) #name,
    TD_SCHEDULES(X)
#undef X
};

const char *
td_schedule_name(td_schedule schedule) {
  return schedule_names[schedule];
}

td_schedule
td_schedule_find(const char *name) {
  td_schedule found = 0;
  while (found < TD_N_SCHEDULES && strcmp(schedule_names[found], name) != 0)
    found++;
  return found;
}

typedef struct run {
  const td_pass_model *model;
  const td_virtual_plan *plan;
  const td_virtual_listener *listener; /* (borrowed) or NULL */
  td_virtual_result *result;
  td_virtual_task *tasks;  /* (owned) */
  td_machine_task *given;  /* (owned) the same as the machine takes them */
  td_machine_span *spans;  /* (owned) or NULL: nobody listens */
  td_machine_edge *edges;  /* (owned) the deliveries */
  td_machine_pass *passes; /* (owned) */
  td_queue_order *orders;  /* (owned) by team: the devices, then the owners of passes */
  uint64_t *began;         /* (owned) by pass */
  uint32_t n_devices, n_teams;
  uint64_t held;
} run;

/* ---- policies ---- */

static int64_t
path_cb(uint32_t task, void *data) {
  const run *self = data;
  return (int64_t)TD_MIN(self->tasks[task].path_ns, (uint64_t)INT64_MAX);
}

/* What a task frees, less what it makes. */
static int64_t
freed_cb(uint32_t task, void *data) {
  const run *self = data;
  return (int64_t)self->tasks[task].held - (int64_t)self->tasks[task].sent;
}

/* An order of queues, or what goes before the sequence number. */
static const struct {
  td_queue_order order;
  int64_t (*rank)(uint32_t task, void *data);
} policies[TD_N_SCHEDULES] = {[TD_SCHEDULE_engine] = {TD_queue_order_heap, NULL},
                              [TD_SCHEDULE_fifo] = {TD_queue_order_fifo, NULL},
                              [TD_SCHEDULE_lifo] = {TD_queue_order_lifo, NULL},
                              [TD_SCHEDULE_critical] = {TD_queue_order_heap, path_cb},
                              [TD_SCHEDULE_memory] = {TD_queue_order_heap, freed_cb}};

/* The devices that may have a task: one, or if there are more than the tape has, several. */
static uint32_t
route_cb(const td_machine *machine, uint32_t number, void *data) {
  const run *self = data;
  const td_model_task *task = &self->model->tasks[number];
  uint32_t recorded = self->model->n_devices, wanted = self->n_devices;
  if (task->device < 0 && recorded) return self->given[number].team;
  uint32_t best = task->device < 0 ? 0 : (uint32_t)task->device % wanted;
  for (uint32_t i = best; i < wanted; i += TD_MAX(recorded, 1u))
    if (td_machine_load(machine, i) < td_machine_load(machine, best)) best = i;
  return best;
}

/* ---- before it begins ---- */

/* The first pass of an owner begins when it began. Each other one follows the one before. */
static void
take_pass(run *self, uint32_t number, uint64_t *last) {
  const td_model_pass *facts = &self->model->passes[number];
  td_machine_pass *pass = &self->passes[number];
  *pass = (td_machine_pass){.root = TD_NONE,
                            .caller = TD_NONE,
                            .next = TD_NONE,
                            .callback = TD_NONE,
                            .lead_ns = facts->lead_ns,
                            .tail_ns = facts->tail_ns};
  if (*last) {
    td_machine_pass *before = &self->passes[*last - 1];
    uint64_t ended = self->model->passes[*last - 1].end_ns;
    before->next = number;
    before->gap_ns = facts->begin_ns - TD_MIN(facts->begin_ns, ended);
    pass->team = before->team;
    pass->begin_ns = TD_MACHINE_CALLED;
  } else {
    pass->team = self->n_teams++;
    pass->begin_ns = facts->begin_ns;
  }
  *last = number + UINT64_C(1);
}

static void
take_passes(run *self) {
  td_number_map last = {0}; /* by owner: 1 + its last pass */
  for (uint32_t i = 0; i < self->model->n_passes; i++)
    take_pass(self, i, td_number_map_put(&last, self->model->passes[i].owner));
  td_number_map_fini(&last);
}

static td_machine_task
machine_task_of(const run *self, uint32_t number) {
  const td_model_task *facts = &self->model->tasks[number];
  uint32_t owners = self->passes[facts->pass].team;
  return (td_machine_task){.pass = facts->pass,
                           .team = facts->device < 0 ? owners : (uint32_t)facts->device,
                           .first = facts->first,
                           .n = facts->n,
                           .next_root = TD_NONE,
                           .inner = TD_NONE,
                           .sequence_nr = facts->sequence_nr,
                           .lasts_ns = self->tasks[number].total_ns};
}

static td_machine_span
span_of(const run *self, uint32_t number) {
  const td_model_task *facts = &self->model->tasks[number];
  double share = self->tasks[number].share;
  uint64_t begin = facts->begin_ns, end = facts->begin_ns + facts->apply_ns;
  return (td_machine_span){td_virtual_time(facts, share, begin),
                           td_virtual_time(facts, share, end)};
}

static void
take_tasks(run *self) {
  const td_pass_model *model = self->model;
  td_virtual_tasks_take(model, self->plan->scalings, self->plan->n_scalings, self->tasks);
  for (uint32_t i = model->n_tasks; i-- > 0;) {
    td_machine_task *task = &self->given[i];
    *task = machine_task_of(self, i);
    if (self->spans) self->spans[i] = span_of(self, i);
    if (model->tasks[i].n_awaited) continue;
    task->next_root = self->passes[task->pass].root;
    self->passes[task->pass].root = i;
  }
  for (uint32_t i = 0; i < model->n_deliveries; i++)
    self->edges[i] = (td_machine_edge){.from = model->deliveries[i].from,
                                       .to = model->deliveries[i].to,
                                       .after_ns = td_virtual_offset(model, self->tasks, i)};
}

static void
find_bounds(run *self) {
  const td_pass_model *model = self->model;
  uint64_t n_workers = self->n_devices + UINT64_C(1), work = 0;
  for (uint32_t i = 0; i < model->n_tasks; i++)
    work += self->tasks[i].total_ns;
  self->result->work_over_workers += work / (n_workers * self->plan->n_workers);
  for (uint32_t i = 0; i < model->n_passes; i++) {
    uint64_t alone = model->passes[i].lead_ns + model->passes[i].tail_ns, longest = 0;
    for (uint32_t root = self->passes[i].root; root != TD_NONE; root = self->given[root].next_root)
      longest = TD_MAX(longest, self->tasks[root].path_ns);
    self->result->critical_path += alone + longest;
    self->result->work_over_workers += alone;
  }
}

/* ---- while it runs ---- */

#define ADDED_UP                                                                                   \
  (TD_MACHINE_BIT(pass_begin) | TD_MACHINE_BIT(pass_end) | TD_MACHINE_BIT(push) |                  \
   TD_MACHINE_BIT(deliver) | TD_MACHINE_BIT(finish))

static void
add_up(run *self, const td_machine_event *event) {
  td_virtual_result *result = self->result;
  switch (event->kind) {
  case TD_MACHINE_pass_begin:
    self->began[event->id] = event->ns;
    break;
  case TD_MACHINE_pass_end:
    result->wall += event->ns - self->began[event->id];
    break;
  case TD_MACHINE_push:
    result->queue_peak = TD_MAX(result->queue_peak, event->n_ready);
    break;
  case TD_MACHINE_deliver: {
    const td_model_delivery *one = &self->model->deliveries[event->id];
    self->tasks[one->to].held += one->bytes;
    self->held += one->bytes;
    result->memory_peak = TD_MAX(result->memory_peak, self->held);
    break;
  }
  case TD_MACHINE_finish:
    self->held -= self->tasks[event->id].held;
    break;
  default:
    break;
  }
}

static void
happened_cb(const td_machine_event *event, void *data) {
  run *self = data;
  add_up(self, event);
  if (self->listener) self->listener->happened(event, self->listener->data);
}

static td_status
run_machine(run *self) {
  bool is_as_recorded = self->n_devices == self->model->n_devices;
  for (uint32_t i = 0; i < self->n_teams; i++)
    self->orders[i] = policies[self->plan->schedule].order;
  const td_machine_plan plan = {.tasks = self->given,
                                .edges = self->edges,
                                .passes = self->passes,
                                .orders = self->orders,
                                .spans = self->spans,
                                .n_tasks = self->model->n_tasks,
                                .n_passes = self->model->n_passes,
                                .n_teams = self->n_teams,
                                .n_workers = self->plan->n_workers,
                                .is_timed = true,
                                .heard = self->listener ? TD_MACHINE_ALL : ADDED_UP,
                                .wake_ns = self->model->wake_ns,
                                .rank = policies[self->plan->schedule].rank,
                                .route = is_as_recorded ? NULL : route_cb,
                                .happened = happened_cb,
                                .data = self};
  return td_machine_run(&plan);
}

/* ---- all of it ---- */

static bool
reserve(run *self) {
  const td_pass_model *model = self->model;
  self->tasks = td_try_alloc(model->n_tasks, sizeof *self->tasks);
  self->given = td_try_alloc(model->n_tasks, sizeof *self->given);
  self->edges = td_try_alloc(model->n_deliveries, sizeof *self->edges);
  self->passes = td_try_alloc(model->n_passes, sizeof *self->passes);
  self->began = td_try_alloc(model->n_passes, sizeof *self->began);
  size_t n_teams = (size_t)self->n_devices + model->n_passes;
  self->orders = td_try_alloc(n_teams, sizeof *self->orders);
  if (self->listener) self->spans = td_try_alloc(model->n_tasks, sizeof *self->spans);
  if (self->listener && !self->spans) return false;
  return self->tasks && self->given && self->edges && self->passes && self->began && self->orders;
}

static void
release(run *self) {
  free(self->tasks);
  free(self->given);
  free(self->spans);
  free(self->edges);
  free(self->passes);
  free(self->began);
  free(self->orders);
}

td_status
td_virtual_run(const td_pass_model *model, const td_virtual_plan *plan,
               const td_virtual_listener *listener, td_virtual_result *result) {
  run self = {.model = model, .plan = plan, .listener = listener, .result = result};
  td_status status = TD_OUT_OF_MEMORY;
  self.n_devices = plan->n_devices ? plan->n_devices : model->n_devices;
  self.n_teams = self.n_devices;
  if (reserve(&self)) {
    take_passes(&self);
    take_tasks(&self);
    find_bounds(&self);
    status = run_machine(&self);
  }
  release(&self);
  return status;
}
