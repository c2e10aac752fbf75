/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/rules/machine.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/rules/ready_tasks.h"

/* A queue and its workers. */
typedef struct team {
  td_ready_tasks ready;
  uint32_t n_idle;
  uint32_t *callers; /* (owned) tasks that wait for a pass inside them, innermost last */
  uint32_t n_callers, callers_capacity;
} team;

typedef enum happening {
  GIVE,
  TAKE,
  DELIVER,
  FINISH, /* up to here: steps of a task, in the order of those that come at once */
  STEP,
  CALL,
  RETURN,
  BEGIN,
  ROOTS,
  WAKE,
  END
} happening;

/* What a task with locks does, so long after its pop if it waits for none. */
typedef struct step {
  uint64_t after_ns;
  happening what;
  uint32_t id; /* of an edge, or of a hold */
} step;

typedef struct task_now {
  uint32_t n_awaited;
  uint32_t inner; /* the pass inside it that is under way or comes next, or TD_NONE */
  uint32_t team;  /* that runs it */
  step *steps;    /* (owned) of a task with locks, while it runs */
  uint32_t at;    /* the next step */
} task_now;

typedef struct lock_waiter {
  uint64_t order;
  uint32_t task;
} lock_waiter;

typedef struct lock_now {
  bool is_held, wakes; /* wakes: it is free, and `next` is waking up for it */
  lock_waiter next;
  lock_waiter *waiters; /* (owned) a heap */
  uint32_t n_waiters, capacity;
} lock_now;

typedef struct pass_now {
  uint32_t outstanding; /* tasks that are ready or under way */
  uint32_t depth;
} pass_now;

typedef struct moment {
  uint64_t time, order;
  happening what;
  uint32_t id, team; /* of a pass, an edge, or a task */
} moment;

struct td_machine {
  const td_machine_plan *plan;
  task_now *tasks;  /* (owned) */
  pass_now *passes; /* (owned) */
  team *teams;      /* (owned) */
  lock_now *locks;  /* (owned) */
  moment *moments;  /* (owned) a heap */
  size_t n_moments, capacity;
  uint64_t now, n_planned, n_pushed, n_started;
};

static bool
is_later(moment a, moment b, void *context) {
  (void)context;
  return a.time != b.time ? a.time > b.time : a.order > b.order;
}

TD_HEAP_DEFINE(moments, moment, TD_HEAP_GET, is_later, TD_HEAP_SET)

static bool
goes_after(lock_waiter a, lock_waiter b, void *context) {
  (void)context;
  return a.order > b.order;
}

TD_HEAP_DEFINE(waiters, lock_waiter, TD_HEAP_GET, goes_after, TD_HEAP_SET)

static void
plan_at(td_machine *self, uint64_t time, happening what, uint32_t id, uint32_t team) {
  TD_GROW(self->moments, self->n_moments, self->capacity);
  moments_push(self->moments, self->n_moments++, (moment){time, self->n_planned++, what, id, team},
               NULL);
}

static inline bool
is_heard(const td_machine *self, td_machine_kind kind) {
  return self->plan->heard >> kind & 1;
}

static inline void
tell(const td_machine *self, td_machine_kind kind, uint32_t id, uint32_t team) {
  if (!is_heard(self, kind)) return;
  const td_machine_event event = {kind, self->now, id, team, TD_NONE, 0};
  self->plan->happened(&event, self->plan->data);
}

static inline void
tell_push(const td_machine *self, uint32_t task, uint32_t team, uint32_t by) {
  if (!is_heard(self, TD_MACHINE_push)) return;
  const td_machine_event event = {
      TD_MACHINE_push, self->now, task, team, by, (uint32_t)self->teams[team].ready.n};
  self->plan->happened(&event, self->plan->data);
}

uint32_t
td_machine_load(const td_machine *machine, uint32_t team) {
  const struct team *one = &machine->teams[team];
  return (uint32_t)one->ready.n + machine->plan->n_workers - one->n_idle;
}

/* ---- queues ---- */

static void
wake(td_machine *self, uint32_t number, uint32_t pusher) {
  team *team = &self->teams[number];
  if (!team->n_idle) return;
  team->n_idle--;
  bool is_awake = number == pusher && self->plan->n_workers == 1; /* it pushed to itself */
  plan_at(self, self->now + (is_awake ? 0 : self->plan->wake_ns), WAKE, TD_NONE, number);
}

static td_task_place
place_of(const td_machine *self, uint32_t task) {
  const td_machine_plan *plan = self->plan;
  const td_machine_task *facts = &plan->tasks[task];
  return (td_task_place){.kind = TD_TASK_NODE,
                         .depth = self->passes[facts->pass].depth,
                         .rank = plan->rank ? plan->rank(task, plan->data) : 0,
                         .sequence_nr = facts->sequence_nr};
}

static void
push(td_machine *self, uint32_t task, uint32_t by, uint32_t pusher) {
  const td_machine_plan *plan = self->plan;
  const td_machine_task *facts = &plan->tasks[task];
  uint32_t number = plan->route ? plan->route(self, task, plan->data) : facts->team;
  td_ready_tasks_push(&self->teams[number].ready,
                      (td_ready_task){task, self->n_pushed++, place_of(self, task)});
  self->passes[facts->pass].outstanding++;
  tell_push(self, task, number, by);
  wake(self, number, pusher);
}

/* ---- tasks ---- */

static void
plan_times(td_machine *self, uint32_t task, uint32_t team) {
  const td_machine_task *facts = &self->plan->tasks[task];
  if (self->plan->spans) {
    plan_at(self, self->now + self->plan->spans[task].begin_ns, CALL, task, team);
    plan_at(self, self->now + self->plan->spans[task].end_ns, RETURN, task, team);
  }
  for (uint32_t i = facts->first; i < facts->first + facts->n; i++)
    if (self->plan->edges[i].to != TD_NONE)
      plan_at(self, self->now + self->plan->edges[i].after_ns, DELIVER, i, team);
}

static int
compare_steps(const void *a, const void *b) {
  const step *left = a, *right = b;
  if (left->after_ns != right->after_ns) return left->after_ns < right->after_ns ? -1 : 1;
  if (left->what != right->what) return left->what < right->what ? -1 : 1;
  return (left->id > right->id) - (left->id < right->id);
}

static void
list_steps(td_machine *self, uint32_t task) {
  const td_machine_plan *plan = self->plan;
  const td_machine_task *facts = &plan->tasks[task];
  step *steps = TD_NEW_N(step, (size_t)facts->n + 2 * (size_t)facts->n_holds + 1);
  size_t n = 0;
  for (uint32_t i = facts->first_hold; i < facts->first_hold + facts->n_holds; i++) {
    steps[n++] = (step){plan->holds[i].begin_ns, TAKE, i};
    steps[n++] = (step){plan->holds[i].end_ns, GIVE, i};
  }
  for (uint32_t i = facts->first; i < facts->first + facts->n; i++)
    if (plan->edges[i].to != TD_NONE) steps[n++] = (step){plan->edges[i].after_ns, DELIVER, i};
  steps[n++] = (step){facts->lasts_ns, FINISH, task};
  qsort(steps, n, sizeof *steps, compare_steps);
  self->tasks[task].steps = steps;
  self->tasks[task].at = 0;
}

/* The function begins or ends between the step that was made now and the next one. */
static void
plan_call(td_machine *self, uint32_t task, happening what, uint64_t at_ns, uint64_t after_ns) {
  const task_now *one = &self->tasks[task];
  const step *next = &one->steps[one->at];
  if (at_ns >= after_ns && (at_ns < next->after_ns || next->what == FINISH))
    plan_at(self, self->now + at_ns - after_ns, what, task, one->team);
}

/* The step before was made now, and comes `after_ns` after the pop. */
static void
plan_step(td_machine *self, uint32_t task, uint64_t after_ns) {
  const task_now *one = &self->tasks[task];
  const td_machine_span *span = self->plan->spans ? &self->plan->spans[task] : NULL;
  if (span) plan_call(self, task, CALL, span->begin_ns, after_ns);
  if (span) plan_call(self, task, RETURN, span->end_ns, after_ns);
  plan_at(self, self->now + one->steps[one->at].after_ns - after_ns, STEP, task, one->team);
}

/* Not timed, the task that began first is over first. */
static void
start(td_machine *self, uint32_t task, uint32_t team) {
  if (self->plan->tasks[task].n_holds) {
    list_steps(self, task);
    self->tasks[task].team = team;
    return plan_step(self, task, 0);
  }
  bool is_timed = self->plan->is_timed, is_last = self->tasks[task].inner == TD_NONE;
  if (is_timed && is_last) plan_times(self, task, team);
  uint64_t end = is_timed ? self->now + self->plan->tasks[task].lasts_ns : ++self->n_started;
  plan_at(self, end, FINISH, task, team);
}

/* A task whose pass inside is over goes on. */
static bool
resume(td_machine *self, uint32_t number) {
  team *team = &self->teams[number];
  if (!team->n_callers) return false;
  uint32_t task = team->callers[team->n_callers - 1], inner = self->tasks[task].inner;
  if (self->passes[inner].outstanding) return false;
  team->n_callers--;
  self->tasks[task].inner = self->plan->passes[inner].next;
  tell(self, TD_MACHINE_resume, task, number);
  start(self, task, number);
  return true;
}

/* A worker is free. */
static void
work_on(td_machine *self, uint32_t number) {
  team *team = &self->teams[number];
  if (resume(self, number)) return;
  if (team->ready.n) {
    uint32_t task = (uint32_t)td_ready_tasks_pop(&team->ready).id;
    tell(self, TD_MACHINE_pop, task, number);
    start(self, task, number);
  } else {
    team->n_idle++;
    tell(self, TD_MACHINE_idle, TD_NONE, number);
  }
}

static void
deliver(td_machine *self, uint32_t number, uint32_t pusher) {
  const td_machine_edge *edge = &self->plan->edges[number];
  tell(self, TD_MACHINE_deliver, number, pusher);
  if (--self->tasks[edge->to].n_awaited == 0 && !self->plan->tasks[edge->to].is_unwanted)
    push(self, edge->to, edge->from, pusher);
}

static void
deliver_all(td_machine *self, uint32_t task, uint32_t team) {
  const td_machine_task *facts = &self->plan->tasks[task];
  for (uint32_t i = facts->first; i < facts->first + facts->n; i++)
    if (self->plan->edges[i].to != TD_NONE) deliver(self, i, team);
}

/* ---- passes ---- */

static void
push_roots(td_machine *self, uint32_t number) {
  const td_machine_pass *pass = &self->plan->passes[number];
  for (uint32_t root = pass->root; root != TD_NONE; root = self->plan->tasks[root].next_root)
    push(self, root, TD_NONE, pass->team);
}

static void
begin_pass(td_machine *self, uint32_t number) {
  const td_machine_pass *pass = &self->plan->passes[number];
  tell(self, TD_MACHINE_pass_begin, number, pass->team);
  plan_at(self, self->now + pass->lead_ns, ROOTS, number, pass->team);
}

/* The thread that calls it pushes its roots at once. */
static void
call_pass(td_machine *self, uint32_t number, uint32_t depth) {
  self->passes[number].depth = depth;
  tell(self, TD_MACHINE_pass_begin, number, self->plan->passes[number].team);
  push_roots(self, number);
}

static void
end_pass(td_machine *self, uint32_t number) {
  const td_machine_pass *pass = &self->plan->passes[number];
  uint64_t end = self->now + pass->tail_ns;
  plan_at(self, end, END, number, pass->team);
  uint32_t n_callers = self->teams[pass->team].n_callers;
  if (n_callers) wake(self, pass->team, pass->team);
  if (pass->callback != TD_NONE)
    call_pass(self, pass->callback, n_callers + 1);
  else if (pass->caller == TD_NONE && pass->next != TD_NONE)
    plan_at(self, end + pass->gap_ns, BEGIN, pass->next, self->plan->passes[pass->next].team);
}

static void
come_to_roots(td_machine *self, uint32_t number) {
  if (self->plan->passes[number].root == TD_NONE) return end_pass(self, number);
  push_roots(self, number);
}

static void
call_inner(td_machine *self, uint32_t task, uint32_t number) {
  team *team = &self->teams[number];
  TD_GROW(team->callers, team->n_callers, team->callers_capacity);
  team->callers[team->n_callers++] = task;
  call_pass(self, self->tasks[task].inner, team->n_callers);
}

static void
complete(td_machine *self, uint32_t task, uint32_t team) {
  uint32_t pass = self->plan->tasks[task].pass;
  if (!self->plan->is_timed) deliver_all(self, task, team);
  tell(self, TD_MACHINE_finish, task, team);
  if (--self->passes[pass].outstanding == 0) end_pass(self, pass);
}

static void
finish(td_machine *self, uint32_t task, uint32_t team) {
  if (self->tasks[task].inner != TD_NONE)
    call_inner(self, task, team);
  else
    complete(self, task, team);
  work_on(self, team);
}

/* ---- locks ---- */

/* Tells whether the task has the lock now. Else it waits. */
static bool
take_lock(td_machine *self, uint32_t task, uint32_t number) {
  const lock_waiter own = {self->plan->holds[number].order, task};
  lock_now *lock = &self->locks[self->plan->holds[number].lock];
  bool is_next = lock->wakes && lock->next.task == task;
  bool is_taken = lock->wakes && !is_next && goes_after(own, lock->next, NULL);
  if (is_next) lock->wakes = false;
  if (!lock->is_held && !is_taken) return lock->is_held = true;
  TD_GROW(lock->waiters, lock->n_waiters, lock->capacity);
  waiters_push(lock->waiters, lock->n_waiters++, own, NULL);
  return false;
}

/* A task that wakes up asks again. */
static void
give_lock(td_machine *self, uint32_t number) {
  lock_now *lock = &self->locks[self->plan->holds[number].lock];
  lock->is_held = false;
  if (lock->wakes || !lock->n_waiters) return;
  lock->next = waiters_pop(lock->waiters, lock->n_waiters--, NULL);
  lock->wakes = true;
  plan_at(self, self->now + self->plan->lock_wake_ns, STEP, lock->next.task,
          self->tasks[lock->next.task].team);
}

static void
make_step(td_machine *self, uint32_t task) {
  task_now *one = &self->tasks[task];
  const step step = one->steps[one->at];
  if (step.what == FINISH) {
    free(one->steps);
    one->steps = NULL;
    return finish(self, task, one->team);
  }
  if (step.what == TAKE && !take_lock(self, task, step.id)) return;
  one->at++;
  plan_step(self, task, step.after_ns);
  if (step.what == GIVE) give_lock(self, step.id);
  if (step.what == DELIVER) deliver(self, step.id, one->team);
}

/* ---- all of it ---- */

static void
happen(td_machine *self, moment moment) {
  self->now = moment.time;
  switch (moment.what) {
  case BEGIN:
    return begin_pass(self, moment.id);
  case ROOTS:
    return come_to_roots(self, moment.id);
  case CALL:
    return tell(self, TD_MACHINE_begin, moment.id, moment.team);
  case RETURN:
    return tell(self, TD_MACHINE_end, moment.id, moment.team);
  case DELIVER:
    return deliver(self, moment.id, moment.team);
  case FINISH:
    return finish(self, moment.id, moment.team);
  case STEP:
    return make_step(self, moment.id);
  case WAKE:
    return work_on(self, moment.team);
  case END:
    return tell(self, TD_MACHINE_pass_end, moment.id, moment.team);
  case GIVE:
  case TAKE: /* steps alone */
    return;
  }
}

static void
take_tasks(td_machine *self) {
  const td_machine_plan *plan = self->plan;
  for (uint32_t i = 0; i < plan->n_tasks; i++) {
    const td_machine_task *facts = &plan->tasks[i];
    self->tasks[i].inner = facts->inner;
    for (uint32_t k = facts->first; k < facts->first + facts->n; k++)
      if (plan->edges[k].to != TD_NONE) self->tasks[plan->edges[k].to].n_awaited++;
  }
}

static void
run(td_machine *self) {
  const td_machine_plan *plan = self->plan;
  take_tasks(self);
  for (uint32_t i = 0; i < plan->n_teams; i++) {
    self->teams[i].ready.order = plan->orders[i];
    self->teams[i].n_idle = plan->n_workers;
  }
  for (uint32_t i = 0; i < plan->n_passes; i++)
    if (plan->passes[i].begin_ns != TD_MACHINE_CALLED)
      plan_at(self, plan->passes[i].begin_ns, BEGIN, i, plan->passes[i].team);
  while (self->n_moments)
    happen(self, moments_pop(self->moments, self->n_moments--, NULL));
}

static void
fini(td_machine *self) {
  for (uint32_t i = 0; self->teams && i < self->plan->n_teams; i++) {
    td_ready_tasks_fini(&self->teams[i].ready);
    free(self->teams[i].callers);
  }
  for (uint32_t i = 0; self->tasks && i < self->plan->n_tasks; i++)
    free(self->tasks[i].steps);
  for (uint32_t i = 0; self->locks && i < self->plan->n_locks; i++)
    free(self->locks[i].waiters);
  free(self->tasks);
  free(self->locks);
  free(self->passes);
  free(self->teams);
  free(self->moments);
}

td_status
td_machine_run(const td_machine_plan *plan) {
  td_machine self = {.plan = plan};
  self.tasks = td_try_alloc(plan->n_tasks, sizeof *self.tasks);
  self.passes = td_try_alloc(plan->n_passes, sizeof *self.passes);
  self.teams = td_try_alloc(plan->n_teams, sizeof *self.teams);
  self.locks = td_try_alloc(plan->n_locks, sizeof *self.locks);
  bool has_memory = self.tasks && self.passes && self.teams && self.locks;
  if (has_memory) run(&self);
  fini(&self);
  return has_memory ? TD_OK : TD_OUT_OF_MEMORY;
}
