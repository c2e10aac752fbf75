/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "engine/profile/order/order_predict.h"

#include "engine/base/alloc.h"
#include "engine/base/heap.h"
#include "engine/rules/task_order.h"

/* A task in a queue; `order` counts pushes. */
typedef struct entry {
  uint32_t task, order;
} entry;

/* A queue and its thread. */
typedef struct worker {
  td_queue_order order;
  entry *heap; /* (owned) */
  uint32_t n, capacity;
  uint32_t *callers; /* (owned) tasks that wait for a pass inside them, innermost last */
  uint32_t n_callers, callers_capacity;
  bool is_busy, is_listed;
} worker;

typedef struct pass_now {
  uint32_t worker; /* where it began */
  uint32_t n_left; /* tasks */
  uint32_t next;   /* of the same caller, or TD_NONE */
  uint32_t late;   /* that a final callback calls, or TD_NONE */
} pass_now;

typedef struct task_now {
  uint32_t n_awaited, worker;
  uint32_t inner; /* the pass inside it that is under way or comes next, or TD_NONE */
} task_now;

typedef struct run {
  const td_pass_graph *graph;
  const td_catalog *catalog;
  task_now *tasks;     /* (owned) */
  pass_now *passes;    /* (owned) */
  worker *workers;     /* (owned) */
  td_number_map lanes; /* by queue: 1 + the worker */
  uint32_t *running;   /* (owned) tasks; the one that began first ends first */
  uint32_t *popped;    /* (owned) the result */
  uint32_t *wakened;   /* (owned) workers that may have something to do */
  uint32_t n_workers, workers_capacity, n_running, n_over, running_capacity;
  uint32_t n_popped, popped_capacity, n_wakened, wakened_capacity, n_pushed;
} run;

/* What a heap's order needs. */
typedef struct context {
  const run *run;
  td_queue_order order;
} context;

static td_task_place
place_of(const run *self, uint32_t task) {
  const td_graph_node *node = &self->graph->nodes[task];
  return (td_task_place){.kind = TD_TASK_NODE,
                         .depth = self->graph->passes[node->pass].depth,
                         .sequence_nr = node->sequence_nr};
}

static bool
goes_after(entry a, entry b, void *data) {
  const context *context = data;
  if (context->order == TD_queue_order_fifo) return b.order < a.order;
  if (context->order == TD_queue_order_lifo) return b.order > a.order;
  return td_task_goes_after(place_of(context->run, a.task), place_of(context->run, b.task));
}

TD_HEAP_DEFINE(entries, entry, TD_HEAP_GET, goes_after, TD_HEAP_SET)

/* ---- workers ---- */

static uint32_t
worker_of_queue(run *self, uint32_t queue) {
  uint64_t *number = td_number_map_put(&self->lanes, queue);
  if (*number) return (uint32_t)*number - 1;
  TD_GROW(self->workers, self->n_workers, self->workers_capacity);
  bool is_known = queue < self->catalog->n_queues;
  self->workers[self->n_workers] =
      (worker){.order = is_known ? self->catalog->queues[queue].order : TD_queue_order_heap};
  *number = ++self->n_workers;
  return (uint32_t)*number - 1;
}

/* A node that entered no queue of the tape would have entered that of its pass. */
static uint32_t
worker_of(run *self, uint32_t task) {
  const td_graph_node *node = &self->graph->nodes[task];
  if (node->queue != TD_NONE) return worker_of_queue(self, node->queue);
  const pass_now *pass = &self->passes[node->pass];
  return pass->worker != TD_NONE ? pass->worker : worker_of_queue(self, TD_NONE);
}

static void
waken(run *self, uint32_t number) {
  worker *worker = &self->workers[number];
  if (worker->is_listed) return;
  worker->is_listed = true;
  TD_GROW(self->wakened, self->n_wakened, self->wakened_capacity);
  self->wakened[self->n_wakened++] = number;
}

static void
start(run *self, uint32_t number, uint32_t task) {
  self->workers[number].is_busy = true;
  self->tasks[task].worker = number;
  TD_GROW(self->running, self->n_running, self->running_capacity);
  self->running[self->n_running++] = task;
}

static void
push(run *self, uint32_t task) {
  uint32_t number = worker_of(self, task);
  worker *worker = &self->workers[number];
  context context = {self, worker->order};
  TD_GROW(worker->heap, worker->n, worker->capacity);
  entries_push(worker->heap, worker->n++, (entry){task, self->n_pushed++}, &context);
  self->passes[self->graph->nodes[task].pass].n_left++;
  waken(self, number);
}

static void
pop(run *self, uint32_t number) {
  worker *worker = &self->workers[number];
  context context = {self, worker->order};
  uint32_t task = entries_pop(worker->heap, worker->n--, &context).task;
  TD_GROW(self->popped, self->n_popped, self->popped_capacity);
  self->popped[self->n_popped++] = task;
  start(self, number, task);
}

/* ---- passes ---- */

static void
begin_pass(run *self, uint32_t number, uint32_t worker) {
  self->passes[number].worker = worker;
  uint32_t root = self->graph->passes[number].root;
  if (root != TD_NONE) push(self, root);
}

/* A task whose pass inside is over goes on. */
static bool
resume(run *self, uint32_t number) {
  worker *worker = &self->workers[number];
  if (!worker->n_callers) return false;
  uint32_t task = worker->callers[worker->n_callers - 1];
  const pass_now *inner = &self->passes[self->tasks[task].inner];
  if (inner->n_left) return false;
  worker->n_callers--;
  self->tasks[task].inner = inner->next;
  start(self, number, task);
  return true;
}

static void
go_on(run *self, uint32_t number) {
  self->workers[number].is_listed = false;
  if (self->workers[number].is_busy || resume(self, number)) return;
  if (self->workers[number].n) pop(self, number);
}

static void
call_inner(run *self, uint32_t task) {
  uint32_t number = self->tasks[task].worker;
  worker *worker = &self->workers[number];
  TD_GROW(worker->callers, worker->n_callers, worker->callers_capacity);
  worker->callers[worker->n_callers++] = task;
  begin_pass(self, self->tasks[task].inner, number);
}

static void
scatter(run *self, uint32_t task) {
  const td_graph_node *node = &self->graph->nodes[task];
  bool is_restricted = self->graph->passes[node->pass].is_restricted;
  for (uint32_t i = 0; i < node->n; i++) {
    uint32_t to = td_pass_graph_target(self->graph, node, i);
    if (to == TD_NONE || --self->tasks[to].n_awaited) continue;
    if (!is_restricted || self->graph->nodes[to].is_needed) push(self, to);
  }
}

/* Final callbacks may call passes, one after another. */
static void
end_pass(run *self, uint32_t number) {
  const pass_now *pass = &self->passes[number];
  bool is_late = number && self->graph->passes[number].caller == TD_NONE;
  uint32_t late = pass->late != TD_NONE ? pass->late : is_late ? pass->next : TD_NONE;
  waken(self, pass->worker);
  if (late != TD_NONE) begin_pass(self, late, pass->worker);
}

static void
finish(run *self, uint32_t task) {
  uint32_t pass = self->graph->nodes[task].pass;
  scatter(self, task);
  if (--self->passes[pass].n_left == 0) end_pass(self, pass);
}

/* The task that began first has had its time. */
static void
step(run *self) {
  uint32_t task = self->running[self->n_over++], worker = self->tasks[task].worker;
  self->workers[worker].is_busy = false;
  waken(self, worker);
  if (self->tasks[task].inner != TD_NONE)
    call_inner(self, task);
  else
    finish(self, task);
  for (uint32_t i = 0; i < self->n_wakened; i++)
    go_on(self, self->wakened[i]);
  self->n_wakened = 0;
}

/* ---- all of it ---- */

static void
count_awaited(run *self) {
  const td_pass_graph *graph = self->graph;
  for (uint32_t i = 0; i < graph->n_nodes; i++)
    self->tasks[i] = (task_now){.inner = TD_NONE, .worker = TD_NONE};
  for (uint32_t i = 0; i < graph->n_nodes; i++)
    for (uint32_t k = 0; k < graph->nodes[i].n; k++) {
      uint32_t to = td_pass_graph_target(graph, &graph->nodes[i], k);
      if (to != TD_NONE) self->tasks[to].n_awaited++;
    }
}

/* Outer passes have smaller numbers than those inside. */
static void
list_inner(run *self) {
  for (uint32_t i = 0; i < self->graph->n_passes; i++)
    self->passes[i] = (pass_now){.worker = TD_NONE, .next = TD_NONE, .late = TD_NONE};
  for (uint32_t i = self->graph->n_passes; i-- > 1;) {
    const td_graph_pass *pass = &self->graph->passes[i];
    uint32_t *first = pass->caller != TD_NONE ? &self->tasks[pass->caller].inner
                                              : &self->passes[pass->outer].late;
    self->passes[i].next = *first;
    *first = i;
  }
}

static void
begin_first(run *self) {
  uint32_t root = self->graph->passes[0].root;
  if (root == TD_NONE) return;
  begin_pass(self, 0, worker_of(self, root));
  for (uint32_t i = 0; i < self->n_wakened; i++)
    go_on(self, self->wakened[i]);
  self->n_wakened = 0;
}

static void
fini(run *self) {
  for (uint32_t i = 0; i < self->n_workers; i++) {
    free(self->workers[i].heap);
    free(self->workers[i].callers);
  }
  free(self->workers);
  free(self->tasks);
  free(self->passes);
  free(self->running);
  free(self->wakened);
  td_number_map_fini(&self->lanes);
}

uint32_t *
td_order_predict(const td_pass_graph *graph, const td_catalog *catalog, uint32_t *n) {
  run self = {.graph = graph, .catalog = catalog};
  self.tasks = TD_NEW_N(task_now, graph->n_nodes);
  self.passes = TD_NEW_N(pass_now, graph->n_passes);
  count_awaited(&self);
  list_inner(&self);
  if (graph->n_passes) begin_first(&self);
  while (self.n_over < self.n_running)
    step(&self);
  fini(&self);
  *n = self.n_popped;
  return self.popped;
}
