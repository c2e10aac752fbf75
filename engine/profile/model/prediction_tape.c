/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/model/prediction_tape.h"

#include "engine/base/alloc.h"

/* One model. Tasks and passes are its own. */
typedef struct telling {
  td_prediction_tape *tape;
  const td_pass_model *model;
  const td_catalog *catalog;
  uint32_t *team;        /* (owned) [n_devices + n_passes] by team of the run: 1 + the tape's */
  uint32_t *owner_team;  /* (owned) [n_passes] of the run */
  uint32_t *first_task;  /* (owned) [n_passes + 1] in by_pass */
  uint32_t *by_pass;     /* (owned) [n_tasks] tasks */
  uint32_t *worker;      /* (owned) [n_tasks] who runs it, of its team */
  uint32_t *thread;      /* (owned) [n_tasks] and on the tape */
  uint32_t *left;        /* (owned) [n_tasks] gradients that it waits for */
  uint32_t *outstanding; /* (owned) [n_passes] */
  uint32_t n_devices;
} telling;

static td_predicted_team *
team_of(const telling *self, const td_machine_event *event) {
  uint32_t *place = &self->team[event->team];
  if (!*place)
    *place = td_prediction_tape_team(self->tape, self->catalog, (int32_t)event->team, TD_NONE,
                                     event->ns);
  return &self->tape->teams[*place - 1];
}

static uint32_t
queue_of(const telling *self, const td_machine_event *event) {
  return self->team[event->team] - 1;
}

/* ---- what happens ---- */

static uint32_t
owner_of(const telling *self, uint32_t pass) {
  return self->tape->teams[self->team[self->owner_team[pass]] - 1].threads[0];
}

static uint32_t
graph_task_of(const telling *self, uint32_t task) {
  return self->model->passes[self->model->tasks[task].pass].graph_task;
}

static void
tell_dependencies(telling *self, uint32_t pass, uint64_t ns) {
  for (uint32_t i = self->first_task[pass]; i < self->first_task[pass + 1]; i++) {
    uint32_t task = self->by_pass[i];
    if (self->left[task])
      TD_PREDICT(self->tape, owner_of(self, pass), ns, dependency,
                 .graph_task = self->model->passes[pass].graph_task,
                 .node = self->model->tasks[task].node, .count = self->left[task]);
  }
}

static void
begin_pass(telling *self, const td_machine_event *event) {
  const td_model_pass *pass = &self->model->passes[event->id];
  const td_catalog_graph_task none = {.root = TD_NONE, .accumulate_grad = true};
  const td_catalog_graph_task *facts = td_catalog_graph_task_find(self->catalog, pass->graph_task);
  if (!facts) facts = &none;
  self->owner_team[event->id] = event->team;
  uint32_t thread = owner_of(self, event->id);
  TD_PREDICT(self->tape, thread, event->ns, graph_task_begin, .graph_task = pass->graph_task,
             .owner = thread, .keep_graph = facts->keep_graph, .create_graph = facts->create_graph,
             .accumulate_grad = facts->accumulate_grad, .root = facts->root,
             .n_roots = facts->n_roots, .n_outputs = facts->n_outputs);
  team_of(self, event)->free_ns[0] = self->tape->last_ns;
  tell_dependencies(self, event->id, event->ns);
}

static void
end_pass(telling *self, const td_machine_event *event) {
  TD_PREDICT(self->tape, owner_of(self, event->id), event->ns, graph_task_end,
             .graph_task = self->model->passes[event->id].graph_task, .status = TD_task_status_ok);
}

static void
push(telling *self, const td_machine_event *event) {
  td_predicted_team *team = team_of(self, event);
  uint32_t pass = self->model->tasks[event->id].pass;
  bool is_root = event->by == TD_NONE;
  uint32_t thread = is_root ? owner_of(self, pass) : self->thread[event->by];
  self->outstanding[pass]++;
  TD_PREDICT(self->tape, thread, event->ns, queue_push, .queue = queue_of(self, event),
             .node = self->model->tasks[event->id].node,
             .graph_task = graph_task_of(self, event->id), .size = ++team->n_queued,
             .reason = is_root ? TD_push_reason_root : TD_push_reason_ready);
}

static void
pop(telling *self, const td_machine_event *event) {
  td_predicted_team *team = team_of(self, event);
  uint32_t worker = team->idle[--team->n_idle], graph_task = graph_task_of(self, event->id);
  uint32_t thread = td_prediction_tape_thread(self->tape, self->catalog, team, worker, event->ns);
  uint64_t at = td_prediction_tape_at(self->tape, thread, event->ns);
  self->worker[event->id] = worker;
  self->thread[event->id] = thread;
  TD_MAKE(self->tape->maker, thread, at, queue_pop, .queue = queue_of(self, event),
          .node = self->model->tasks[event->id].node, .graph_task = graph_task,
          .size = --team->n_queued, .waited = at - team->free_ns[worker]);
  TD_PREDICT(self->tape, thread, event->ns, thread_state, .state = TD_thread_activity_processing,
             .graph_task = graph_task);
}

static void
call(telling *self, const td_machine_event *event) {
  TD_PREDICT(self->tape, self->thread[event->id], event->ns, node_begin,
             .node = self->model->tasks[event->id].node,
             .graph_task = graph_task_of(self, event->id));
}

static void
leave(telling *self, const td_machine_event *event) {
  TD_PREDICT(self->tape, self->thread[event->id], event->ns, node_end,
             .node = self->model->tasks[event->id].node,
             .graph_task = graph_task_of(self, event->id));
}

/* Of several edges between two nodes, each delivery takes the next one. */
static uint32_t
input_of(const telling *self, uint32_t delivery) {
  const td_model_delivery *one = &self->model->deliveries[delivery];
  const td_model_task *from = &self->model->tasks[one->from];
  uint32_t before = 0, n;
  for (uint32_t i = from->first; i < delivery; i++)
    before += self->model->deliveries[i].to == one->to;
  const uint32_t *edges =
      td_catalog_edges_between(self->catalog, from->node, self->model->tasks[one->to].node, &n);
  return before < n ? self->catalog->edges[edges[before]].input_nr : 0;
}

static void
deliver(telling *self, const td_machine_event *event) {
  const td_model_delivery *one = &self->model->deliveries[event->id];
  uint32_t thread = self->thread[one->from], graph_task = graph_task_of(self, one->to);
  uint32_t from = self->model->tasks[one->from].node, to = self->model->tasks[one->to].node;
  TD_PREDICT(self->tape, thread, event->ns, dependency_dec, .node = to, .graph_task = graph_task,
             .left = --self->left[one->to], .by = from);
  TD_PREDICT(self->tape, thread, event->ns, buffer_add, .node = to, .graph_task = graph_task,
             .input_nr = input_of(self, event->id), .from = from,
             .mode = one->bytes ? TD_accumulation_move : TD_accumulation_in_place,
             .bytes = one->bytes);
  if (!self->left[one->to])
    TD_PREDICT(self->tape, thread, event->ns, buffer_ready, .node = to, .graph_task = graph_task);
}

static void
finish(telling *self, const td_machine_event *event) {
  td_predicted_team *team = team_of(self, event);
  uint32_t worker = self->worker[event->id], pass = self->model->tasks[event->id].pass;
  TD_PREDICT(self->tape, self->thread[event->id], event->ns, outstanding,
             .graph_task = self->model->passes[pass].graph_task,
             .value = --self->outstanding[pass]);
  team->idle[team->n_idle++] = worker;
  team->free_ns[worker] = self->tape->last_ns;
}

/* The worker that became free last found nothing. One that was only woken was idle before. */
static void
rest(telling *self, const td_machine_event *event) {
  const td_predicted_team *team = team_of(self, event);
  uint32_t thread = team->threads[team->idle[team->n_idle - 1]];
  if (thread != TD_NONE)
    TD_PREDICT(self->tape, thread, event->ns, thread_state, .state = TD_thread_activity_idle,
               .graph_task = TD_NONE);
}

static void
happened_cb(const td_machine_event *event, void *data) {
  static void (*const tell[])(telling * self, const td_machine_event *event) = {
      [TD_MACHINE_pass_begin] = begin_pass,
      [TD_MACHINE_pass_end] = end_pass,
      [TD_MACHINE_push] = push,
      [TD_MACHINE_pop] = pop,
      [TD_MACHINE_begin] = call,
      [TD_MACHINE_end] = leave,
      [TD_MACHINE_deliver] = deliver,
      [TD_MACHINE_finish] = finish,
      [TD_MACHINE_idle] = rest};
  tell[event->kind](data, event);
}

/* ---- one model ---- */

static void
sort_by_pass(telling *self) {
  const td_pass_model *model = self->model;
  uint32_t at = 0;
  for (uint32_t i = 0; i < model->n_passes; i++) {
    self->first_task[i] = at;
    at += model->passes[i].n_tasks;
  }
  self->first_task[model->n_passes] = at;
  for (uint32_t i = 0; i < model->n_tasks; i++)
    self->by_pass[self->first_task[model->tasks[i].pass]++] = i;
  for (uint32_t i = model->n_passes; i > 0; i--)
    self->first_task[i] = self->first_task[i - 1];
  self->first_task[0] = 0;
  for (uint32_t i = 0; i < model->n_tasks; i++)
    self->left[i] = model->tasks[i].n_awaited;
}

static bool
reserve(telling *self) {
  uint32_t n_tasks = self->model->n_tasks, n_passes = self->model->n_passes;
  self->team = td_try_alloc((size_t)self->n_devices + n_passes, sizeof *self->team);
  self->owner_team = td_try_alloc(n_passes, sizeof *self->owner_team);
  self->first_task = td_try_alloc((size_t)n_passes + 1, sizeof *self->first_task);
  self->by_pass = td_try_alloc(n_tasks, sizeof *self->by_pass);
  self->worker = td_try_alloc(n_tasks, sizeof *self->worker);
  self->thread = td_try_alloc(n_tasks, sizeof *self->thread);
  self->left = td_try_alloc(n_tasks, sizeof *self->left);
  self->outstanding = td_try_alloc(n_passes, sizeof *self->outstanding);
  return self->team && self->owner_team && self->first_task && self->by_pass && self->worker &&
         self->thread && self->left && self->outstanding;
}

static void
release(telling *self) {
  free(self->team);
  free(self->owner_team);
  free(self->first_task);
  free(self->by_pass);
  free(self->worker);
  free(self->thread);
  free(self->left);
  free(self->outstanding);
}

/* The run numbers owners of passes as they come: td_virtual_run. */
static void
find_owners(telling *self) {
  uint64_t ns = self->model->passes[0].begin_ns;
  td_number_map seen = {0};
  uint32_t next = self->n_devices;
  for (uint32_t i = 0; i < self->model->n_passes; i++) {
    uint32_t owner = self->model->passes[i].owner;
    uint64_t *is_seen = td_number_map_put(&seen, owner);
    if (!*is_seen)
      self->team[next++] =
          td_prediction_tape_team(self->tape, self->catalog, TD_DEVICE_CPU, owner, ns);
    *is_seen = 1;
  }
  td_number_map_fini(&seen);
}

static uint64_t
end_of(const td_pass_model *model) {
  uint64_t end = 0;
  for (uint32_t i = 0; i < model->n_passes; i++)
    end = TD_MAX(end, model->passes[i].end_ns);
  return end;
}

td_status
td_prediction_tape_add(td_prediction_tape *self, const td_pass_model *model,
                       const td_catalog *catalog) {
  if (!model->n_passes) return TD_OK;
  uint64_t begin = model->passes[0].begin_ns;
  telling telling = {.tape = self, .model = model, .catalog = catalog};
  td_virtual_result sums = {0};
  telling.n_devices = self->plan->n_devices ? self->plan->n_devices : model->n_devices;
  self->shift_ns = (int64_t)self->last_ns - (int64_t)(self->has_begun ? self->recorded_ns : begin);
  td_status status = TD_OUT_OF_MEMORY;
  if (reserve(&telling)) {
    const td_virtual_listener listener = {happened_cb, &telling};
    sort_by_pass(&telling);
    find_owners(&telling);
    td_prediction_tape_declare(self, model, catalog, begin);
    status = td_virtual_run(model, self->plan, &listener, &sums);
  }
  self->recorded_ns = end_of(model);
  release(&telling);
  return status;
}
