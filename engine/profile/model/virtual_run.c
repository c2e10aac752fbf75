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

td_freeable
td_freeable_find(const char *name) {
  static const char *const names[TD_N_FREEABLES] = {
#define X(name, summary) #name,
      TD_FREEABLES(X)
#undef X
  };
  td_freeable found = 0;
  while (found < TD_N_FREEABLES && strcmp(names[found], name) != 0)
    found++;
  return found;
}

typedef struct run {
  const td_pass_model *model;
  const td_virtual_plan *plan;
  const td_virtual_listener *listener; /* (borrowed) or NULL */
  td_virtual_result *result;
  td_virtual_tasks tasks;  /* (owned) */
  td_machine_task *given;  /* (owned) the same as the machine takes them */
  td_machine_span *spans;  /* (owned) or NULL: nobody listens */
  td_machine_edge *edges;  /* (owned) the deliveries */
  td_machine_pass *passes; /* (owned) */
  td_machine_hold *holds;  /* (owned) */
  td_queue_order *orders;  /* (owned) by team: the devices, then the owners of passes */
  uint64_t *began;         /* (owned) by pass */
  uint32_t n_devices, n_teams, n_locks;
  uint64_t held;
} run;

/* ---- policies ---- */

static int64_t
path_cb(uint32_t task, void *data) {
  const run *self = data;
  return (int64_t)TD_MIN(self->tasks.items[task].path_ns, (uint64_t)INT64_MAX);
}

/* What a task frees, less what it makes. */
static int64_t
freed_cb(uint32_t task, void *data) {
  const run *self = data;
  return (int64_t)self->tasks.items[task].held - (int64_t)self->tasks.items[task].sent;
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
                           .lasts_ns = self->tasks.items[number].total_ns};
}

static uint64_t
time_of(const run *self, uint32_t task, uint64_t offset) {
  return td_virtual_time(self->model, &self->tasks, task, offset);
}

static td_machine_span
span_of(const run *self, uint32_t number) {
  const td_model_task *facts = &self->model->tasks[number];
  uint64_t begin = facts->begin_ns, end = facts->begin_ns + facts->apply_ns;
  return (td_machine_span){time_of(self, number, begin), time_of(self, number, end)};
}

static void
take_tasks(run *self) {
  const td_pass_model *model = self->model;
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
                                       .after_ns = td_virtual_offset(model, &self->tasks, i)};
}

/* ---- locks ---- */

/* Where a thread may ask for a lock while it has another: a leaf's hook, or the sum of a pass, may
 * need the GIL. */
static uint32_t
rank_of(td_lock_kind lock) {
  static const uint32_t ranks[] = {[TD_lock_kind_node] = 0,
                                   [TD_lock_kind_graph_task] = 1,
                                   [TD_lock_kind_queue] = 2,
                                   [TD_lock_kind_gil] = 2};
  return ranks[lock];
}

#define N_RANKS 3

/* Locks are numbered by rank: no task waits in a circle. */
static void
number_locks(run *self, td_number_map *numbers) {
  const td_pass_model *model = self->model;
  for (uint32_t rank = 0; rank < N_RANKS; rank++)
    for (uint32_t i = 0; i < model->n_holds; i++) {
      if (rank_of(model->holds[i].lock) != rank) continue;
      uint64_t key = (uint64_t)model->holds[i].lock << 32 | model->holds[i].object;
      uint64_t *number = td_number_map_put(numbers, key);
      if (!*number) *number = ++self->n_locks;
    }
}

static uint32_t
lock_number(const td_number_map *numbers, const td_model_hold *hold) {
  const uint64_t *found = td_number_map_find(numbers, (uint64_t)hold->lock << 32 | hold->object);
  return (uint32_t)(*found - 1);
}

/* What a task has in each rank. A hold ends at latest where the task asks for a lock of the same
 * rank or of a lower one. */
typedef struct open_holds {
  td_machine_hold *of[N_RANKS];
} open_holds;

static void
end_open(open_holds *open, uint32_t rank, uint64_t ns) {
  for (uint32_t i = rank; i < N_RANKS; i++) {
    if (open->of[i]) open->of[i]->end_ns = TD_MIN(open->of[i]->end_ns, ns);
    open->of[i] = NULL;
  }
}

static void
drop_short(run *self, td_machine_task *task) {
  uint32_t n = task->first_hold;
  for (uint32_t i = task->first_hold; i < task->first_hold + task->n_holds; i++)
    if (self->holds[i].end_ns > self->holds[i].begin_ns) self->holds[n++] = self->holds[i];
  task->n_holds = n - task->first_hold;
}

/* Returns the first hold of the next task. */
static uint32_t
take_holds_of(run *self, const td_number_map *numbers, uint32_t first) {
  const td_model_hold *holds = self->model->holds;
  uint32_t number = holds[first].task, i = first;
  td_machine_task *task = &self->given[number];
  open_holds open = {{NULL}};
  task->first_hold = first;
  for (; i < self->model->n_holds && holds[i].task == number; i++) {
    if (self->plan->frees >> td_model_freeable_of(holds[i].lock) & 1) continue;
    td_machine_hold *hold = &self->holds[task->first_hold + task->n_holds++];
    *hold = (td_machine_hold){.lock = lock_number(numbers, &holds[i]),
                              .begin_ns = time_of(self, number, holds[i].begin_ns),
                              .end_ns = time_of(self, number, holds[i].end_ns),
                              .order = holds[i].taken_ns};
    uint32_t rank = rank_of(holds[i].lock);
    end_open(&open, rank, hold->begin_ns);
    open.of[rank] = hold;
  }
  drop_short(self, task);
  return i;
}

static void
take_holds(run *self) {
  td_number_map numbers = {0};
  number_locks(self, &numbers);
  for (uint32_t i = 0; i < self->model->n_holds;)
    i = take_holds_of(self, &numbers, i);
  td_number_map_fini(&numbers);
}

static void
find_bounds(run *self) {
  const td_pass_model *model = self->model;
  uint64_t n_workers = self->n_devices + UINT64_C(1), work = 0;
  for (uint32_t i = 0; i < model->n_tasks; i++)
    work += self->tasks.items[i].total_ns;
  self->result->work_over_workers += work / (n_workers * self->plan->n_workers);
  for (uint32_t i = 0; i < model->n_passes; i++) {
    uint64_t alone = model->passes[i].lead_ns + model->passes[i].tail_ns, longest = 0;
    for (uint32_t root = self->passes[i].root; root != TD_NONE; root = self->given[root].next_root)
      longest = TD_MAX(longest, self->tasks.items[root].path_ns);
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
    self->tasks.items[one->to].held += one->bytes;
    self->held += one->bytes;
    result->memory_peak = TD_MAX(result->memory_peak, self->held);
    break;
  }
  case TD_MACHINE_finish:
    self->held -= self->tasks.items[event->id].held;
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
                                .holds = self->holds,
                                .n_locks = self->n_locks,
                                .n_tasks = self->model->n_tasks,
                                .n_passes = self->model->n_passes,
                                .n_teams = self->n_teams,
                                .n_workers = self->plan->n_workers,
                                .is_timed = true,
                                .heard = self->listener ? TD_MACHINE_ALL : ADDED_UP,
                                .wake_ns = self->model->wake_ns,
                                .lock_wake_ns = self->model->lock_wake_ns,
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
  self->given = td_try_alloc(model->n_tasks, sizeof *self->given);
  self->edges = td_try_alloc(model->n_deliveries, sizeof *self->edges);
  self->passes = td_try_alloc(model->n_passes, sizeof *self->passes);
  self->began = td_try_alloc(model->n_passes, sizeof *self->began);
  size_t n_teams = (size_t)self->n_devices + model->n_passes;
  self->orders = td_try_alloc(n_teams, sizeof *self->orders);
  self->holds = td_try_alloc(model->n_holds, sizeof *self->holds);
  if (self->listener) self->spans = td_try_alloc(model->n_tasks, sizeof *self->spans);
  if (self->listener && !self->spans) return false;
  return self->given && self->edges && self->passes && self->began && self->holds && self->orders;
}

static void
release(run *self) {
  td_virtual_tasks_fini(&self->tasks);
  free(self->holds);
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
  td_status status =
      td_virtual_tasks_take(model, plan->scalings, plan->n_scalings, plan->frees, &self.tasks);
  self.n_devices = plan->n_devices ? plan->n_devices : model->n_devices;
  self.n_teams = self.n_devices;
  if (!status && !reserve(&self)) status = TD_OUT_OF_MEMORY;
  if (!status) {
    take_passes(&self);
    take_tasks(&self);
    take_holds(&self);
    find_bounds(&self);
    status = run_machine(&self);
  }
  release(&self);
  return status;
}
