/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/virtual_run.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/base/number_map.h"
#include "engine/rules/task_order.h"

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

/* A task in a queue; `order` counts pushes. */
typedef struct entry {
  uint32_t task, order;
} entry;

/* A queue and its workers. */
typedef struct team {
  entry *heap; /* (owned) */
  uint32_t n, capacity;
  uint32_t n_idle, n_workers;
} team;

typedef enum happening { BEGIN, ROOTS, CALL, RETURN, DELIVER, FINISH, WAKE, END } happening;

typedef struct moment {
  uint64_t time, order;
  happening what;
  uint32_t id, team; /* of a pass, a delivery, or a task */
} moment;

typedef struct pass_now {
  uint64_t begin_ns;
  uint32_t n_left;
  uint32_t next;       /* of the same owner, or TD_NONE */
  uint32_t first_root; /* task, or TD_NONE */
  uint32_t team;       /* of the owner */
} pass_now;

typedef struct run {
  const td_pass_model *model;
  const td_virtual_plan *plan;
  const td_virtual_listener *listener; /* (borrowed) or NULL */
  td_virtual_result *result;
  pass_now *passes;       /* (owned) */
  td_virtual_task *tasks; /* (owned) */
  team *teams;            /* (owned) the devices, then the owners of passes */
  uint32_t n_devices, n_teams, n_pushed;
  moment *moments; /* (owned) a heap */
  size_t n_moments, capacity;
  uint64_t now, n_planned, held;
} run;

/* ---- which task goes first ---- */

static td_task_place
place_of(const run *self, uint32_t task) {
  return (td_task_place){.kind = TD_TASK_NODE, .sequence_nr = self->model->tasks[task].sequence_nr};
}

/* What a task frees, less what it makes. */
static int64_t
freed_by(const run *self, uint32_t task) {
  return (int64_t)self->tasks[task].held - (int64_t)self->tasks[task].sent;
}

static bool
engine_goes_after(const run *self, entry a, entry b) {
  return td_task_goes_after(place_of(self, a.task), place_of(self, b.task));
}

/* Whether b goes strictly before a. */
static bool
goes_after(entry a, entry b, void *context) {
  const run *self = context;
  switch (self->plan->schedule) {
  case TD_SCHEDULE_fifo:
    return b.order < a.order;
  case TD_SCHEDULE_lifo:
    return b.order > a.order;
  case TD_SCHEDULE_critical: {
    uint64_t left = self->tasks[a.task].path_ns, right = self->tasks[b.task].path_ns;
    return left != right ? left < right : engine_goes_after(self, a, b);
  }
  case TD_SCHEDULE_memory: {
    int64_t left = freed_by(self, a.task), right = freed_by(self, b.task);
    return left != right ? left < right : engine_goes_after(self, a, b);
  }
  default:
    return engine_goes_after(self, a, b);
  }
}

TD_HEAP_DEFINE(entries, entry, TD_HEAP_GET, goes_after, TD_HEAP_SET)

static bool
is_later(moment a, moment b, void *context) {
  (void)context;
  return a.time != b.time ? a.time > b.time : a.order > b.order;
}

TD_HEAP_DEFINE(moments, moment, TD_HEAP_GET, is_later, TD_HEAP_SET)

static void
plan_at(run *self, uint64_t time, happening what, uint32_t id, uint32_t team) {
  TD_GROW(self->moments, self->n_moments, self->capacity);
  moments_push(self->moments, self->n_moments++, (moment){time, self->n_planned++, what, id, team},
               NULL);
}

static void
tell_of(const run *self, td_virtual_event event) {
  if (self->listener) self->listener->happened(&event, self->listener->data);
}

static void
tell(const run *self, td_virtual_kind kind, uint32_t id, uint32_t team) {
  tell_of(self, (td_virtual_event){kind, self->now, id, team, TD_NONE});
}

/* ---- before it begins ---- */

static void
list_roots(run *self) {
  for (uint32_t i = self->model->n_tasks; i-- > 0;) {
    pass_now *pass = &self->passes[self->model->tasks[i].pass];
    if (self->tasks[i].n_awaited) continue;
    self->tasks[i].next_root = pass->first_root;
    pass->first_root = i;
  }
}

static void
find_bounds(run *self) {
  const td_pass_model *model = self->model;
  uint64_t n_workers = self->n_devices + UINT64_C(1);
  for (uint32_t i = 0; i < model->n_passes; i++) {
    uint64_t alone = model->passes[i].lead_ns + model->passes[i].tail_ns;
    self->result->critical_path += alone;
    self->result->work_over_workers += alone;
  }
  uint64_t work = 0;
  for (uint32_t i = 0; i < model->n_tasks; i++)
    work += self->tasks[i].total_ns;
  self->result->work_over_workers += work / (n_workers * self->plan->n_workers);
  for (uint32_t i = 0; i < model->n_passes; i++) {
    uint64_t longest = 0;
    for (uint32_t root = self->passes[i].first_root; root != TD_NONE;
         root = self->tasks[root].next_root)
      longest = TD_MAX(longest, self->tasks[root].path_ns);
    self->result->critical_path += longest;
  }
}

/* The first pass of an owner begins when it began. Each other one follows the one before. */
static void
take_pass(run *self, uint32_t number, uint64_t *last) {
  const td_model_pass *facts = &self->model->passes[number];
  pass_now *pass = &self->passes[number];
  *pass = (pass_now){
      .n_left = facts->n_tasks, .next = TD_NONE, .first_root = TD_NONE, .team = self->n_teams};
  if (*last) {
    self->passes[*last - 1].next = number;
    pass->team = self->passes[*last - 1].team;
  } else {
    plan_at(self, facts->begin_ns, BEGIN, number, self->n_teams++);
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

/* ---- what happens ---- */

/* The devices that may have a task: one, or if there are more than the tape has, several. */
static uint32_t
choose_team(const run *self, const td_model_task *task) {
  uint32_t recorded = self->model->n_devices, wanted = self->n_devices;
  if (wanted == recorded || (task->device < 0 && recorded))
    return task->device < 0 ? self->passes[task->pass].team : (uint32_t)task->device;
  uint32_t best = task->device < 0 ? 0 : (uint32_t)task->device % wanted;
  for (uint32_t i = best; i < wanted; i += TD_MAX(recorded, 1u)) {
    const team *one = &self->teams[i], *other = &self->teams[best];
    if (one->n + one->n_workers - one->n_idle < other->n + other->n_workers - other->n_idle)
      best = i;
  }
  return best;
}

static void
plan_call(run *self, uint32_t task, uint32_t team) {
  const td_model_task *facts = &self->model->tasks[task];
  double share = self->tasks[task].share;
  uint64_t begin = td_virtual_time(facts, share, facts->begin_ns);
  uint64_t end = td_virtual_time(facts, share, facts->begin_ns + facts->apply_ns);
  plan_at(self, self->now + begin, CALL, task, team);
  plan_at(self, self->now + end, RETURN, task, team);
}

static void
start(run *self, uint32_t task, uint32_t team) {
  const td_model_task *facts = &self->model->tasks[task];
  tell(self, TD_VIRTUAL_pop, task, team);
  if (self->listener) plan_call(self, task, team);
  for (uint32_t i = facts->first; i < facts->first + facts->n; i++)
    plan_at(self, self->now + td_virtual_offset(self->model, self->tasks, i), DELIVER, i, team);
  plan_at(self, self->now + self->tasks[task].total_ns, FINISH, task, team);
}

/* A worker is free. */
static void
work_on(run *self, uint32_t number) {
  team *team = &self->teams[number];
  if (!team->n) {
    team->n_idle++;
    tell(self, TD_VIRTUAL_idle, TD_NONE, number);
    return;
  }
  entry first = entries_pop(team->heap, team->n--, self);
  start(self, first.task, number);
}

/* A thread that pushes to itself is awake. */
static void
push(run *self, uint32_t task, uint32_t by, uint32_t pusher) {
  uint32_t number = choose_team(self, &self->model->tasks[task]);
  team *team = &self->teams[number];
  TD_GROW(team->heap, team->n, team->capacity);
  entries_push(team->heap, team->n++, (entry){task, self->n_pushed++}, self);
  self->result->queue_peak = TD_MAX(self->result->queue_peak, team->n);
  tell_of(self, (td_virtual_event){TD_VIRTUAL_push, self->now, task, number, by});
  if (!team->n_idle) return;
  team->n_idle--;
  bool is_awake = number == pusher && team->n_workers == 1;
  plan_at(self, self->now + (is_awake ? 0 : self->model->wake_ns), WAKE, TD_NONE, number);
}

static void
begin(run *self, uint32_t number) {
  pass_now *pass = &self->passes[number];
  pass->begin_ns = self->now;
  tell(self, TD_VIRTUAL_pass_begin, number, pass->team);
  plan_at(self, self->now + self->model->passes[number].lead_ns, ROOTS, number, pass->team);
}

static void
end_pass(run *self, uint32_t number) {
  const td_model_pass *facts = &self->model->passes[number];
  const pass_now *pass = &self->passes[number];
  uint64_t end = self->now + facts->tail_ns;
  self->result->wall += end - pass->begin_ns;
  if (self->listener) plan_at(self, end, END, number, pass->team);
  if (pass->next == TD_NONE) return;
  uint64_t next = self->model->passes[pass->next].begin_ns;
  plan_at(self, end + next - TD_MIN(next, facts->end_ns), BEGIN, pass->next, pass->team);
}

static void
push_roots(run *self, uint32_t number) {
  const pass_now *pass = &self->passes[number];
  if (!pass->n_left) end_pass(self, number);
  for (uint32_t root = pass->first_root; root != TD_NONE; root = self->tasks[root].next_root)
    push(self, root, TD_NONE, pass->team);
}

static void
deliver(run *self, uint32_t number, uint32_t pusher) {
  const td_model_delivery *one = &self->model->deliveries[number];
  td_virtual_task *task = &self->tasks[one->to];
  task->held += one->bytes;
  self->held += one->bytes;
  self->result->memory_peak = TD_MAX(self->result->memory_peak, self->held);
  tell(self, TD_VIRTUAL_deliver, number, pusher);
  if (--task->n_awaited == 0) push(self, one->to, one->from, pusher);
}

static void
finish(run *self, uint32_t task, uint32_t team) {
  uint32_t pass = self->model->tasks[task].pass;
  self->held -= self->tasks[task].held;
  tell(self, TD_VIRTUAL_finish, task, team);
  if (--self->passes[pass].n_left == 0) end_pass(self, pass);
  work_on(self, team);
}

static void
happen(run *self, moment moment) {
  self->now = moment.time;
  switch (moment.what) {
  case BEGIN:
    return begin(self, moment.id);
  case ROOTS:
    return push_roots(self, moment.id);
  case CALL:
    return tell(self, TD_VIRTUAL_begin, moment.id, moment.team);
  case RETURN:
    return tell(self, TD_VIRTUAL_end, moment.id, moment.team);
  case DELIVER:
    return deliver(self, moment.id, moment.team);
  case FINISH:
    return finish(self, moment.id, moment.team);
  case WAKE:
    return work_on(self, moment.team);
  case END:
    return tell(self, TD_VIRTUAL_pass_end, moment.id, moment.team);
  }
}

/* ---- all of it ---- */

td_status
td_virtual_run(const td_pass_model *model, const td_virtual_plan *plan,
               const td_virtual_listener *listener, td_virtual_result *result) {
  run self = {.model = model, .plan = plan, .listener = listener, .result = result};
  self.n_devices = plan->n_devices ? plan->n_devices : model->n_devices;
  self.n_teams = self.n_devices;
  self.passes = td_try_alloc(model->n_passes, sizeof *self.passes);
  self.tasks = td_try_alloc(model->n_tasks, sizeof *self.tasks);
  self.teams = td_try_alloc(self.n_devices + model->n_passes, sizeof *self.teams);
  bool has_memory = self.passes && self.tasks && self.teams;
  if (has_memory) {
    td_virtual_tasks_take(model, plan->scalings, plan->n_scalings, self.tasks);
    take_passes(&self);
    list_roots(&self);
    for (uint32_t i = 0; i < self.n_teams; i++)
      self.teams[i].n_workers = self.teams[i].n_idle = plan->n_workers;
    find_bounds(&self);
    while (self.n_moments)
      happen(&self, moments_pop(self.moments, self.n_moments--, NULL));
  }
  for (uint32_t i = 0; has_memory && i < self.n_teams; i++)
    free(self.teams[i].heap);
  free(self.passes);
  free(self.tasks);
  free(self.teams);
  free(self.moments);
  return has_memory ? TD_OK : TD_OUT_OF_MEMORY;
}
